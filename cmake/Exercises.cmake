# Programs that judge exercises. Each holds one or more versions of the code: a file (the reader's, the solution, a
# mutant) together with the exercise's specification, in a namespace of its own. None is part of `all`: a file that
# does not compile stops nothing but its own check.

# add_exercise_version(NAME DEVICE VERSION SPECIFICATION FILE)
# The object library NAME_DEVICE_VERSION. DEVICE is cpu or gpu. FILE need not exist until it is built: readers delete
# theirs.
function(add_exercise_version name device version specification file)
  set(target ${name}_${device}_${version})
  set(both ${CMAKE_CURRENT_BINARY_DIR}/${target}.cu)
  file(CONFIGURE OUTPUT ${both} CONTENT "#include \"@file@\"\n\n#include \"@specification@\"\n" @ONLY)
  if(device STREQUAL "cpu")
    add_cpu_kernels(${target} ${both} cpu::${version})
  else()
    add_gpu_kernels(${target} ${both})
    target_compile_definitions(${target} PRIVATE DEVICE=gpu::${version})
  endif()
endfunction()

# add_exercise_program(PROGRAM JUDGE NAME DEVICE VERSION...)
# The executable of versions that add_exercise_version has made; JUDGE is one of common/harness/run_exercise.hpp.
function(add_exercise_program program judge name device)
  set(declarations "")
  set(table "")
  foreach(version IN LISTS ARGN)
    string(APPEND declarations "namespace ${device}::${version} {\nworkbook::Exercise exercise();\n}\n")
    string(APPEND table "{\"${version}\", ${device}::${version}::exercise}, ")
  endforeach()
  set(main ${CMAKE_CURRENT_BINARY_DIR}/${program}_main.cpp)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/exercise_main.cpp.in ${main} @ONLY)
  add_executable(${program} EXCLUDE_FROM_ALL ${main})
  if(device STREQUAL "gpu")
    # Before the library, which in a build without a GPU holds a stand-in for it.
    target_link_libraries(${program} PRIVATE workbook_gpu)
  endif()
  foreach(version IN LISTS ARGN)
    target_link_libraries(${program} PRIVATE ${name}_${device}_${version})
  endforeach()
  target_link_libraries(${program} PRIVATE workbook_common)
endfunction()

# add_exercises(CHAPTER)
# For each specification solutions/CHAPTER/NAME.check.cu: the program check_CHAPTER_NAME, which judges the reader's
# file, and with a GPU time_CHAPTER_NAME, which times it beside the solution.
function(add_exercises chapter)
  file(GLOB specifications CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/solutions/${chapter}/*.check.cu)
  foreach(specification IN LISTS specifications)
    cmake_path(GET specification STEM name)
    set(exercise ${chapter}_${name})
    set(readers ${CMAKE_SOURCE_DIR}/chapters/${chapter}/exercises/${name}.cuh)
    add_exercise_version(${exercise} cpu reader ${specification} ${readers})
    target_compile_options(${exercise}_cpu_reader PRIVATE -Wno-unused -Wno-unused-parameter) # half done is no mistake
    add_exercise_program(check_${exercise} judge_exercise ${exercise} cpu reader)
    if(WORKBOOK_GPU_SIDE)
      add_exercise_version(${exercise} gpu reader ${specification} ${readers})
      target_compile_options(${exercise}_gpu_reader PRIVATE -diag-suppress=177,550) # variables that nothing uses yet
      add_exercise_version(${exercise} gpu solution ${specification} ${CMAKE_SOURCE_DIR}/solutions/${chapter}/${name}.cuh)
      add_exercise_program(time_${exercise} time_exercise ${exercise} gpu reader solution)
    endif()
    set_property(GLOBAL APPEND PROPERTY WORKBOOK_EXERCISES ${chapter}/${name})
  endforeach()
endfunction()
