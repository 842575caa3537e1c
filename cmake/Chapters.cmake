# Building kernels for the two devices.

# Messages and debug information name sources relative to the project, wherever it was built.
set(WORKBOOK_PREFIX_MAP -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${CMAKE_BINARY_DIR}=)

set(WORKBOOK_CXX_WARNINGS -Wall -Wextra -Werror=return-type)

# What makes the compiler report each memory access of a kernel to the CPU device (cpu_device/builtins/trace.cpp), one by one and
# as the source has them: no access may be merged with its neighbours or moved into a vector. Kernels are optimised in
# every build type: without optimisation the traced and the untraced code would share inline functions.
# A loop that copies or clears stays a loop (no-builtin). What stands between two branches is not copied into both
# (thread-jumps, jump-threading-threshold, max-small-block-size), and what both branches do is not merged (tree-sink,
# hoist-common, sink-common, tail-merge), nor are bytes that are joined to a number (g++ does that among the
# expensive-optimizations). A load before a condition is not moved to after it (tree-sink, code-sinking). asserts of kernels
# are checked in every build type (-UNDEBUG).
# Basic blocks report too (trace-pc): the device reads from the machine code between them which of them are loops
# (control_flow.hpp). A jump by a table would not say where it leads (-fno-jump-tables).
# A loop without end stays one (-fno-finite-loops), an index past an array of known size is reported (bounds), as is a
# division by zero (integer-divide-by-zero), and a large local array, by touching each page of it (stack-clash-protection).
# A call of the device's must return to the kernel, for its return address names the source line: no sibling calls.
# Readers look at 16 bytes as uint4 and as 8 halfs; nvcc lets them: no strict aliasing.
# Two kernels with the same code stay two, since messages name a kernel by its address (no-ipa-icf).
# DWARF 4, since addr2line of binutils 2.40 names the wrong file for DWARF 5 of g++ 12.
set(WORKBOOK_KERNEL_FLAGS
    -O2 -gdwarf-4 -UNDEBUG -fno-jump-tables -fno-optimize-sibling-calls -fno-strict-aliasing -fno-finite-loops
    -fno-builtin-memcpy -fno-builtin-memset -fno-builtin-memmove
    -fsanitize=thread -fsanitize=bounds,integer-divide-by-zero -fstack-clash-protection -Wno-unknown-pragmas)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND WORKBOOK_KERNEL_FLAGS
       --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1 -fsanitize-coverage=trace-pc
       -fno-reorder-blocks -fno-reorder-blocks-and-partition -fno-tree-vectorize -fno-store-merging
       -fno-thread-jumps -fno-tree-sink -fno-expensive-optimizations -fno-ipa-icf)
else()
  list(APPEND WORKBOOK_KERNEL_FLAGS
       "SHELL:-mllvm -tsan-instrument-func-entry-exit=0" "SHELL:-mllvm -tsan-distinguish-volatile=1"
       "SHELL:-mllvm -tsan-instrument-read-before-write=1"
       -fsanitize-coverage=trace-pc,no-prune
       -fno-slp-vectorize -fno-vectorize -fno-unroll-loops -Wno-pass-failed
       "SHELL:-mllvm -jump-threading-threshold=0" "SHELL:-mllvm -simplifycfg-max-small-block-size=0"
       "SHELL:-mllvm -simplifycfg-hoist-common=false" "SHELL:-mllvm -simplifycfg-sink-common=false"
       "SHELL:-mllvm -enable-tail-merge=false" "SHELL:-mllvm -instcombine-code-sinking=false")
endif()

# For files of readers: one that is not C++ at all, such as a picture, has thousands of errors.
set(WORKBOOK_FEW_ERRORS $<IF:$<CXX_COMPILER_ID:GNU>,-fmax-errors=20,-ferror-limit=20>)

# add_cpu_kernels(TARGET SOURCE [NAMESPACE])
# An object library: SOURCE, a CUDA C++ file, compiled for the CPU device in NAMESPACE (default: cpu). The host compiler
# sees it through a one-line .cpp, since it would not take a .cu for C++.
function(add_cpu_kernels target source)
  set(namespace cpu)
  if(ARGC GREATER 2)
    set(namespace ${ARGV2})
  endif()
  cmake_path(ABSOLUTE_PATH source)
  set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"@source@\"\n" @ONLY)
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${wrapper})
  # CUDA's headers that a kernel file may name are stand-ins here.
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/common ${CMAKE_SOURCE_DIR}/common/kernels
                                               ${CMAKE_SOURCE_DIR}/cpu_device/dialect/cuda_headers)
  target_compile_definitions(${target} PRIVATE DEVICE=${namespace})
  target_compile_options(${target} PRIVATE ${WORKBOOK_KERNEL_FLAGS} ${WORKBOOK_CXX_WARNINGS} ${WORKBOOK_PREFIX_MAP})
  set_property(GLOBAL APPEND PROPERTY WORKBOOK_TRACED_TARGETS ${target})
endfunction()

# add_gpu_kernels(TARGET SOURCE...)
# An object library compiled by nvcc. A build without a GPU does not link it; the tests compile it.
function(add_gpu_kernels target)
  if(NOT WORKBOOK_HAS_NVCC)
    return()
  endif()
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${ARGN})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/common ${CMAKE_SOURCE_DIR}/common/kernels)
  # One stream per thread, so that a plain <<<grid, block>>> can be captured into a graph.
  list(TRANSFORM WORKBOOK_PREFIX_MAP PREPEND -Xcompiler= OUTPUT_VARIABLE prefix_map)
  target_compile_options(${target} PRIVATE --default-stream=per-thread --extended-lambda -lineinfo -UNDEBUG -Xcompiler=-Wall
                                           ${prefix_map})
  set_property(GLOBAL APPEND PROPERTY WORKBOOK_GPU_TARGETS ${target})
endfunction()

# link_common_first(TARGET)
# Links an executable with workbook_common, whose objects come before those of kernel files. Host code in a kernel file may
# use the same templates of C++ as the CPU device does, such as std::string: the linker keeps the first copy, and one that is
# traced would call the device in the middle of the device's own work.
function(link_common_first target)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:workbook_common> $<TARGET_OBJECTS:workbook_reports>
                                   $<TARGET_OBJECTS:cpu_device> $<TARGET_OBJECTS:cpu_device_messages>)
  target_link_libraries(${target} PRIVATE workbook_common)
endfunction()

# add_chapter(NAME)
# The executable of chapters/NAME, whose kernels are in namespace cpu::X and gpu::X where NAME is "01_X". Its parts are
# the object libraries NAME_cpu and NAME_gpu. Its exercises come with it.
function(add_chapter name)
  string(REGEX REPLACE "^[0-9]+_" "" namespace ${name})
  add_cpu_kernels(${name}_cpu ${name}/chapter.cu)
  add_gpu_kernels(${name}_gpu ${name}/chapter.cu)

  set(has_gpu_side 0)
  if(WORKBOOK_GPU_SIDE)
    set(has_gpu_side 1)
  endif()
  set(main ${CMAKE_CURRENT_BINARY_DIR}/${name}_main.cpp)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/chapter_main.cpp.in ${main} @ONLY)
  add_executable(${name} ${main})
  link_common_first(${name})
  target_link_libraries(${name} PRIVATE ${name}_cpu)
  if(WORKBOOK_GPU_SIDE)
    target_link_libraries(${name} PRIVATE ${name}_gpu)
  endif()
  set_property(GLOBAL APPEND PROPERTY WORKBOOK_CHAPTERS ${name})
  add_exercises(${name})
endfunction()

# add_python_chapter(NAME)
# A chapter without an executable. `check` judges its exercises in Python, without a build.
function(add_python_chapter name)
  set_property(GLOBAL APPEND PROPERTY WORKBOOK_PYTHON_CHAPTERS ${name})
endfunction()
