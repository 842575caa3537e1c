# For each exercise one program with all that must be judged rightly: the skeleton, the solution, and the mutants of
# tests/mutants/CHAPTER/NAME/. The reader's own file plays no part.
add_custom_target(exercise_versions)
add_dependencies(tests_all exercise_versions)

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
  add_exercise_version(${target} cpu skeleton ${specification} ${skeleton})
  target_sources(${target}_cpu_skeleton PRIVATE ${skeleton}) # so that it is made first
  target_compile_options(${target}_cpu_skeleton PRIVATE -Wno-unused -Wno-unused-parameter) # half done is no mistake
  add_exercise_version(${target} cpu solution ${specification} ${solution})
  set(versions skeleton solution)

  file(GLOB patches CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/mutants/${exercise}/*.patch)
  foreach(patch IN LISTS patches)
    cmake_path(GET patch STEM stem)
    set(version mutant_${stem})
    set(mutant ${folder}/${version}.cuh)
    add_custom_command(
      OUTPUT ${mutant}
      COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/solutions/apply_patch.py ${solution} ${patch} ${mutant}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/solutions/apply_patch.py ${solution} ${patch}
      VERBATIM)
    add_exercise_version(${target} cpu ${version} ${specification} ${mutant})
    target_sources(${target}_cpu_${version} PRIVATE ${mutant})
    target_compile_options(${target}_cpu_${version} PRIVATE -w) # what it leaves unused is part of the mistake
    list(APPEND versions ${version})
  endforeach()
  add_exercise_program(${target} judge_exercise ${target} cpu ${versions})
  add_dependencies(exercise_versions ${target})
  add_check("exercise ${exercise}: the grader" tests/solutions/check_grader.py $<TARGET_FILE:${target}> tests/mutants/${exercise})

  if(WORKBOOK_HAS_NVCC)
    add_exercise_version(${target} gpu skeleton ${specification} ${skeleton})
    target_sources(${target}_gpu_skeleton PRIVATE ${skeleton})
    target_compile_options(${target}_gpu_skeleton PRIVATE -diag-suppress=177,550) # variables that nothing uses yet
    add_exercise_version(${target} gpu solution ${specification} ${solution})
    add_exercise_program(gpu_${target} time_exercise ${target} gpu skeleton solution)
    add_dependencies(exercise_versions gpu_${target})
    add_check("gpu: exercise ${exercise}" tests/solutions/check_grader.py --gpu $<TARGET_FILE:gpu_${target}>)
  endif()
endfunction()

get_property(exercises GLOBAL PROPERTY WORKBOOK_EXERCISES)
if(Python3_FOUND)
  foreach(exercise IN LISTS exercises)
    add_exercise_test(${exercise})
  endforeach()
  add_check("exercises: committed skeletons come from their solutions" tests/solutions/check_skeletons.py $<TARGET_FILE:workbook>)
endif()
