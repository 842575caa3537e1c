# For each exercise two programs with all that must be judged rightly. One has the skeleton, the solution, and the mutants
# tests/mutants/CHAPTER/NAME/*.patch. The other, of the thorough tests, has whole files: the right answers
# tests/answers/right/CHAPTER/NAME/*.cuh and the wrong ones tests/mutants/CHAPTER/NAME/*.cuh. The reader's own file plays no
# part.
add_custom_target(exercise_versions)
add_dependencies(tests_all exercise_versions)

# version_files(VARIABLE PREFIX FILE...)
# Sets VARIABLE to pairs of a version's name, PREFIX and the file's, and the file.
function(version_files variable prefix)
  set(pairs "")
  foreach(file IN LISTS ARGN)
    cmake_path(GET file STEM stem)
    list(APPEND pairs ${prefix}${stem} ${file})
  endforeach()
  set(${variable} ${pairs} PARENT_SCOPE)
endfunction()

function(add_exercise_test exercise)
  cmake_path(GET exercise PARENT_PATH chapter)
  cmake_path(GET exercise FILENAME name)
  set(specification ${CMAKE_SOURCE_DIR}/solutions/${chapter}/${name}.check.cu)
  set(solution ${CMAKE_SOURCE_DIR}/solutions/${chapter}/${name}.cuh)
  set(target versions_${chapter}_${name})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${exercise})

  set(skeleton ${folder}/skeleton.cuh)
  add_custom_command(
    OUTPUT ${skeleton}
    COMMAND workbook skeleton ${solution} > ${skeleton}
    DEPENDS workbook ${solution}
    VERBATIM)
  file(MAKE_DIRECTORY ${folder})
  set(files skeleton ${skeleton} solution ${solution})
  set(mutants)

  file(GLOB patches CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/mutants/${exercise}/*.patch)
  foreach(patch IN LISTS patches)
    cmake_path(GET patch STEM stem)
    list(APPEND mutants ${folder}/mutant_${stem}.cuh)
    list(APPEND files mutant_${stem} ${folder}/mutant_${stem}.cuh)
  endforeach()
  set(apply_patch ${CMAKE_CURRENT_SOURCE_DIR}/solutions/apply_patch.py)
  add_custom_command(
    OUTPUT ${mutants}
    COMMAND Python3::Interpreter ${apply_patch} ${solution} ${folder} ${patches}
    DEPENDS ${apply_patch} ${solution} ${patches}
    VERBATIM)
  add_exercise_versions(${target}_cpu cpu ${specification} ${files})
  target_sources(${target}_cpu PRIVATE ${skeleton} ${mutants}) # so that they are made first
  target_compile_options(${target}_cpu PRIVATE -w) # what skeletons and mutants leave unused is part of the mistake
  add_exercise_program(${target} ${chapter}_${name} judge_exercise cpu ${files})
  target_link_libraries(${target} PRIVATE ${target}_cpu)
  add_dependencies(exercise_versions ${target})
  add_check("exercise ${exercise}: the grader" tests/solutions/check_grader.py $<TARGET_FILE:${target}> tests/mutants/${exercise})

  set(right_folder tests/answers/right/${exercise})
  file(GLOB right CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${right_folder}/*.cuh)
  file(GLOB wrong CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/mutants/${exercise}/*.cuh)
  version_files(right_files right_ ${right})
  version_files(wrong_files wrong_ ${wrong})
  set(answers answers_${chapter}_${name})
  add_exercise_versions(${answers}_cpu cpu ${specification} ${right_files} ${wrong_files})
  target_compile_options(${answers}_cpu PRIVATE -w)
  add_exercise_program(${answers} ${chapter}_${name} judge_exercise cpu ${right_files} ${wrong_files})
  target_link_libraries(${answers} PRIVATE ${answers}_cpu)
  add_dependencies(tests_thorough ${answers})
  add_thorough_check("exercise ${exercise}: answers in other styles" tests/solutions/check_grader.py --answers
                     $<TARGET_FILE:${answers}> ${right_folder} tests/mutants/${exercise})

  if(WORKBOOK_HAS_NVCC)
    add_exercise_versions(${target}_gpu gpu ${specification} skeleton ${skeleton} solution ${solution} ${right_files})
    target_sources(${target}_gpu PRIVATE ${skeleton})
    target_compile_options(${target}_gpu PRIVATE -diag-suppress=177,550) # variables that nothing uses yet
    add_exercise_program(gpu_${target} ${chapter}_${name} time_exercise gpu skeleton ${skeleton} solution ${solution} ${right_files})
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
  add_check("exercise 07.5: its numbers are those of the committed data" tests/solutions/check_budget.py)
  add_check("exercises: committed skeletons come from their solutions" tests/solutions/check_skeletons.py $<TARGET_FILE:workbook>)
endif()
