# unify_by_folder(TARGET...)
# Compiles the files of one folder together: their headers cost more than what is in them. Which files share a compilation does
# not change when one comes or goes elsewhere.
function(unify_by_folder)
  foreach(target IN LISTS ARGN)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(GET folder FILENAME group)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${group}")
    endforeach()
  endforeach()
endfunction()
