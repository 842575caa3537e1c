# Programs that judge exercises. Each holds the exercise's specification and one or more versions of the code: a file
# (the reader's, the solution, a slip) in a namespace of its own. None is part of `all`: a file that does not compile
# stops nothing but its own check.

# solutions/CHAPTER/NAME/check.cu is the specification of an exercise, and says how a version's code is called. It is
# compiled after each version's file, so that no name of a version can mean one of the specification; what a version is
# judged by is the one that is compiled after the solution; SPECIFICATION is defined there.

# add_exercise_versions(TARGET DEVICE SPECIFICATION [VERSION FILE]...)
# The object library TARGET: versions of an exercise, compiled together, each in namespace DEVICE::VERSION. DEVICE is cpu
# or gpu. A FILE need not exist until it is built: readers delete theirs.
function(add_exercise_versions target device specification)
  # Headers that versions share hold `#pragma once`: they come first, in namespace DEVICE, where all versions find them.
  cmake_path(GET specification PARENT_PATH folder)
  cmake_path(GET folder PARENT_PATH folder) # of the chapter
  file(GLOB shared CONFIGURE_DEPENDS ${folder}/*.hpp ${CMAKE_SOURCE_DIR}/common/kernels/*.hpp)
  list(FILTER shared EXCLUDE REGEX "\\.(gpu|sm90a)\\.hpp$") # no exercise is for one kind of card
  set(text "#undef DEVICE\n#define DEVICE ${device}\n#include \"exercise.hpp\"\n")
  foreach(header IN LISTS shared)
    string(APPEND text "#include \"${header}\"\n")
  endforeach()
  set(versions ${ARGN})
  while(versions)
    list(POP_FRONT versions version file)
    string(APPEND text "#undef DEVICE\n\n#define DEVICE ${device}::${version}\n"
                       "#include \"${file}\"\n\n#include \"${specification}\"\n")
  endwhile()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}.cu)
  file(CONFIGURE OUTPUT ${source} CONTENT "${text}" @ONLY)
  if(device STREQUAL "cpu")
    add_cpu_kernels(${target} ${source})
  else()
    add_gpu_kernels(${target} ${source})
  endif()
endfunction()

# add_exercise_program(PROGRAM EXERCISE JUDGE DEVICE [VERSION FILE]...)
# The executable that judges versions, whose object libraries it must be linked with; JUDGE is one of
# common/judge/judge.hpp.
function(add_exercise_program program exercise judge device)
  set(declarations "")
  set(table "")
  set(versions ${ARGN})
  while(versions)
    list(POP_FRONT versions version file)
    string(APPEND declarations "namespace ${device}::${version} {\nworkbook::Answer answer();\n}\n")
    string(APPEND table "{\"${version}\", ${device}::${version}::answer, \"${file}\"}, ")
  endwhile()
  set(main ${CMAKE_CURRENT_BINARY_DIR}/${program}_main.cpp)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/exercise_main.cpp.in ${main} @ONLY)
  add_executable(${program} EXCLUDE_FROM_ALL ${main})
  if(device STREQUAL "gpu")
    # Before the library, which in a build without a GPU holds a stand-in for it.
    target_link_libraries(${program} PRIVATE workbook_gpu ${exercise}_specification workbook_common)
  else()
    link_common_first(${program})
    target_link_libraries(${program} PRIVATE ${exercise}_specification)
  endif()
endfunction()

# add_exercises(CHAPTER)
# For each specification solutions/CHAPTER/NAME/check.cu: the program check_CHAPTER_NAME, which judges the reader's
# file, and with a GPU time_CHAPTER_NAME, which times it beside the solution.
function(add_exercises chapter)
  file(GLOB specifications CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/solutions/${chapter}/*/check.cu)
  foreach(specification IN LISTS specifications)
    cmake_path(GET specification PARENT_PATH folder)
    cmake_path(GET folder FILENAME name)
    set(exercise ${chapter}_${name})
    set(readers reader ${CMAKE_SOURCE_DIR}/chapters/${chapter}/exercises/${name}.cuh)
    set(solution ${folder}/solution.cuh)
    add_exercise_versions(${exercise}_specification cpu ${specification} specification ${solution})
    target_compile_definitions(${exercise}_specification PRIVATE SPECIFICATION)
    add_exercise_versions(${exercise}_cpu_reader cpu ${specification} ${readers})
    target_compile_options(${exercise}_cpu_reader PRIVATE -Wno-unused -Wno-unused-parameter # half done is no mistake
                           ${WORKBOOK_FEW_ERRORS})
    add_exercise_program(check_${exercise} ${exercise} judge_exercise cpu ${readers})
    target_link_libraries(check_${exercise} PRIVATE ${exercise}_cpu_reader)
    if(WORKBOOK_GPU_SIDE)
      add_exercise_versions(${exercise}_gpu_reader gpu ${specification} ${readers})
      target_compile_options(${exercise}_gpu_reader PRIVATE -diag-suppress=177,550) # variables that nothing uses yet
      add_exercise_versions(${exercise}_gpu_solution gpu ${specification} solution ${solution})
      add_exercise_program(time_${exercise} ${exercise} time_exercise gpu ${readers} solution ${solution})
      target_link_libraries(time_${exercise} PRIVATE ${exercise}_gpu_reader ${exercise}_gpu_solution)
    endif()
    set_property(GLOBAL APPEND PROPERTY WORKBOOK_EXERCISES ${chapter}/${name})
  endforeach()
endfunction()
