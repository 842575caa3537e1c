# For each exercise two programs with all that must be judged rightly, which solutions/CHAPTER/NAME/answers.txt lists. One
# has the skeleton, the solution, and the slips, which are edits of it. The other, of the thorough tests, has the right and
# the wrong answers. The reader's own file plays no part.
add_custom_target(exercise_versions)
add_dependencies(tests_all exercise_versions)

# version_files(VARIABLE KIND FILE FOLDER)
# Sets VARIABLE to pairs of a version's name and its file in FOLDER, for the answers of that kind in FILE.
function(version_files variable kind file folder)
  file(READ ${file} text)
  string(REGEX MATCHALL "\n=== ${kind} [A-Za-z0-9_]+" versions "\n${text}")
  list(TRANSFORM versions REPLACE "\n=== ${kind} (.+)" "${kind}_\\1;${folder}/${kind}_\\1.cuh")
  set(${variable} ${versions} PARENT_SCOPE)
endfunction()

# add_mutants(EXERCISE SPECIFICATION SOLUTION ANSWERS)
# A third program, of the thorough tests: the solution with one line changed by rule, as operators.py does it.
function(add_mutants exercise specification solution answers)
  file(STRINGS ${specification} predictions REGEX "\\.predictions")
  if(predictions)
    return() # there is no kernel to change
  endif()
  string(REPLACE "/" "_" name ${exercise})
  set(target mutants_${name})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${exercise}/mutants)
  file(MAKE_DIRECTORY ${folder})
  set(script ${CMAKE_CURRENT_SOURCE_DIR}/solutions/operators.py)
  add_custom_command(
    OUTPUT ${folder}/mutants.cu ${folder}/mutants_main.cpp
    COMMAND Python3::Interpreter ${script} ${solution} ${folder}
    DEPENDS ${script} ${solution}
    VERBATIM)
  add_custom_target(made_${target} DEPENDS ${folder}/mutants.cu ${folder}/mutants_main.cpp)
  add_cpu_kernels(${target}_cpu ${folder}/mutants.cu)
  target_compile_options(${target}_cpu PRIVATE -w)
  add_dependencies(${target}_cpu made_${target})
  add_executable(${target} EXCLUDE_FROM_ALL ${folder}/mutants_main.cpp)
  link_common_first(${target})
  target_link_libraries(${target} PRIVATE ${name}_specification ${target}_cpu)
  add_dependencies(${target} made_${target})
  add_dependencies(tests_thorough ${target})
  add_thorough_check("exercise ${exercise}: mutants" tests/solutions/check_operators.py $<TARGET_FILE:${target}> ${answers}
                     ${solution} ${folder})
endfunction()

function(add_exercise_test exercise)
  cmake_path(GET exercise PARENT_PATH chapter)
  cmake_path(GET exercise FILENAME name)
  set(exercise_folder ${CMAKE_SOURCE_DIR}/solutions/${exercise})
  set(specification ${exercise_folder}/check.cu)
  set(solution ${exercise_folder}/solution.cuh)
  file(GLOB answers CONFIGURE_DEPENDS ${exercise_folder}/answers.txt)
  set(target versions_${chapter}_${name})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${exercise})
  if(NOT answers)
    add_check("exercise ${exercise}: the grader" tests/solutions/check_grader.py ${target} solutions/${exercise}/answers.txt)
    return() # the test says that they are missing
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${answers})
  file(MAKE_DIRECTORY ${folder})
  version_files(slips slip ${answers} ${folder})
  version_files(right right ${answers} ${folder})
  version_files(wrong wrong ${answers} ${folder})

  # A file that stays as it was keeps its time. So a change of one compiles only the programs that have it.
  set(skeleton ${folder}/skeleton.cuh)
  set(script ${CMAKE_CURRENT_SOURCE_DIR}/solutions/answers.py)
  set(stamp ${folder}/answers.stamp)
  set(made ${slips} ${right} ${wrong})
  list(FILTER made INCLUDE REGEX "/")
  file(GLOB stages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/chapters/${chapter}/*.cuh)
  add_custom_command(
    OUTPUT ${stamp}
    BYPRODUCTS ${skeleton} ${made}
    COMMAND workbook skeleton ${solution} > ${skeleton}.new
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${skeleton}.new ${skeleton}
    COMMAND Python3::Interpreter ${script} ${answers} ${solution} ${folder}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS workbook ${script} ${answers} ${solution} ${stages}
    VERBATIM)
  add_custom_target(made_${chapter}_${name} DEPENDS ${stamp})

  set(files skeleton ${skeleton} solution ${solution} ${slips})
  add_exercise_versions(${target}_cpu cpu ${specification} ${files})
  add_dependencies(${target}_cpu made_${chapter}_${name})
  target_compile_options(${target}_cpu PRIVATE -w) # what skeletons and slips leave unused is part of the mistake
  add_exercise_program(${target} ${chapter}_${name} judge_exercise cpu ${files})
  target_link_libraries(${target} PRIVATE ${target}_cpu)
  add_dependencies(exercise_versions ${target})
  add_check("exercise ${exercise}: the grader" tests/solutions/check_grader.py $<TARGET_FILE:${target}> ${answers})

  set(other answers_${chapter}_${name})
  add_exercise_versions(${other}_cpu cpu ${specification} ${right} ${wrong})
  add_dependencies(${other}_cpu made_${chapter}_${name})
  target_compile_options(${other}_cpu PRIVATE -w)
  add_exercise_program(${other} ${chapter}_${name} judge_exercise cpu ${right} ${wrong})
  target_link_libraries(${other} PRIVATE ${other}_cpu)
  add_dependencies(tests_thorough ${other})
  add_thorough_check("exercise ${exercise}: answers in other styles" tests/solutions/check_grader.py --answers
                     $<TARGET_FILE:${other}> ${answers})

  add_mutants(${exercise} ${specification} ${solution} ${answers})

  if(WORKBOOK_HAS_NVCC)
    add_exercise_versions(${target}_gpu gpu ${specification} skeleton ${skeleton} solution ${solution} ${right})
    add_dependencies(${target}_gpu made_${chapter}_${name})
    target_compile_options(${target}_gpu PRIVATE -diag-suppress=177,550) # variables that nothing uses yet
    add_exercise_program(gpu_${target} ${chapter}_${name} time_exercise gpu skeleton ${skeleton} solution ${solution} ${right})
    target_link_libraries(gpu_${target} PRIVATE ${target}_gpu)
    add_dependencies(tests_thorough gpu_${target})
    add_dependencies(on_gpu gpu_${target})
    add_thorough_check("gpu: exercise ${exercise}" tests/solutions/check_grader.py --gpu $<TARGET_FILE:gpu_${target}>)
  endif()
endfunction()

get_property(exercises GLOBAL PROPERTY WORKBOOK_EXERCISES)
if(Python3_FOUND)
  foreach(exercise IN LISTS exercises)
    add_exercise_test(${exercise})
  endforeach()
  add_check("exercises: the form of the files of answers" tests/solutions/check_answers.py)
  add_check("exercise 07.5: its numbers are those of the committed data" tests/solutions/check_budget.py)
  add_check("exercises: committed skeletons come from their solutions" tests/solutions/check_skeletons.py $<TARGET_FILE:workbook>)
endif()
