# Decides about the GPU side. Afterwards:
#   WORKBOOK_HAS_NVCC   the GPU side can be compiled
#   WORKBOOK_GPU_SIDE   it is linked into the programs
# With a CUDA Toolkit but no GPU it is compiled by the tests alone, so that a broken kernel is noticed, and the programs
# do without.
set(WORKBOOK_GPU AUTO CACHE STRING "Link the GPU side: ON, OFF, or AUTO (where there are a CUDA Toolkit and a GPU)")
set_property(CACHE WORKBOOK_GPU PROPERTY STRINGS AUTO ON OFF)

set(WORKBOOK_HAS_NVCC OFF)
set(WORKBOOK_GPU_SIDE OFF)
if(WORKBOOK_GPU STREQUAL "OFF")
  return()
endif()

# nvcc hands paths to a shell and quotes only spaces in them.
if("${CMAKE_SOURCE_DIR}${CMAKE_BINARY_DIR}" MATCHES "['\"()&;$#`]")
  set(sentence "nvcc cannot compile in ${CMAKE_SOURCE_DIR}: give the folder a name without quotes, brackets, & ; $ and #")
  if(WORKBOOK_GPU STREQUAL "ON")
    message(FATAL_ERROR "${sentence}")
  endif()
  message(STATUS "No GPU side: ${sentence}")
  return()
endif()

include(CheckLanguage)
list(APPEND CMAKE_PROGRAM_PATH /usr/local/cuda/bin)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(WORKBOOK_GPU STREQUAL "ON")
    message(FATAL_ERROR "WORKBOOK_GPU=ON, but nvcc was not found: install the CUDA Toolkit (12.5 or newer)")
  endif()
  return()
endif()

file(GLOB nvidia_devices /dev/nvidia[0-9]*)
if(NOT CMAKE_CUDA_ARCHITECTURES) # It must be set before the language is enabled.
  if(nvidia_devices)
    set(CMAKE_CUDA_ARCHITECTURES native)
  elseif(WORKBOOK_GPU STREQUAL "ON")
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90a-real 90-virtual)
  else() # For the tests alone: those that the kernels tell apart.
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90a-real)
  endif()
endif()
enable_language(CUDA)
if(CMAKE_CUDA_ARCHITECTURES STREQUAL "native" AND "${CMAKE_CUDA_ARCHITECTURES_NATIVE}" MATCHES "90-real")
  # An H100 or H200: wgmma wants sm_90a.
  string(REPLACE "90-real" "90a-real" CMAKE_CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES_NATIVE}")
endif()
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.5)
  message(STATUS "CUDA Toolkit ${CMAKE_CUDA_COMPILER_VERSION} is too old for the GPU side: 12.5 is needed")
  return()
endif()
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know that nvcc 13 has it.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
find_package(CUDAToolkit) # cuBLAS, where it is installed

set(WORKBOOK_HAS_NVCC ON)
if(nvidia_devices OR WORKBOOK_GPU STREQUAL "ON")
  set(WORKBOOK_GPU_SIDE ON)
endif()
