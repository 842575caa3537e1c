# The program of `./workbook play`: build/play.cu, which the command writes, includes the reader's file.
set(file ${CMAKE_BINARY_DIR}/play.cu)
if(NOT EXISTS ${file})
  file(WRITE ${file} "")
endif()
add_cpu_kernels(play_cpu ${file})
target_compile_options(play_cpu PRIVATE ${WORKBOOK_FEW_ERRORS})
set(gpu_play nullptr)
if(WORKBOOK_GPU_SIDE)
  add_gpu_kernels(play_gpu ${file})
  set(gpu_play gpu::play)
endif()
configure_file(cmake/play_main.cpp.in ${CMAKE_BINARY_DIR}/play_main.cpp @ONLY)
add_executable(play EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/play_main.cpp)
link_common_first(play)
if(WORKBOOK_GPU_SIDE)
  target_link_libraries(play PRIVATE workbook_gpu play_gpu)
endif()
target_link_libraries(play PRIVATE play_cpu)

# The same for a program with a main of its own, of up to 16 files. For each, the command writes build/published.NUMBER.cu, which
# includes the user's file, and beside it the options of the preprocessor; the files of other numbers are empty. All that is
# compiled from them becomes one object, whose only symbol is main: the templates of C++ in it are traced, and must not be mixed
# with the plain program's.
set(published ${CMAKE_BINARY_DIR}/published)
# Those of GNU: with clang, CMake finds LLVM's, which keep groups of sections and choose symbols by their old names.
find_program(WORKBOOK_GNU_LD NAMES ld.bfd ld ${CMAKE_LINKER})
find_program(WORKBOOK_GNU_OBJCOPY NAMES objcopy ${CMAKE_OBJCOPY})
find_program(WORKBOOK_GNU_NM NAMES nm ${CMAKE_NM})
mark_as_advanced(WORKBOOK_GNU_LD WORKBOOK_GNU_OBJCOPY WORKBOOK_GNU_NM)
if(NOT EXISTS ${published}.set)
  file(WRITE ${published}.set "")
endif()
# The CUDA Toolkit's curand_kernel.h: the functions of cuRAND for kernels are all in it.
find_path(WORKBOOK_CURAND_FOLDER curand_kernel.h HINTS ${CUDAToolkit_INCLUDE_DIRS} /usr/local/cuda/include)
mark_as_advanced(WORKBOOK_CURAND_FOLDER)
set(curand $<$<BOOL:${WORKBOOK_CURAND_FOLDER}>:-DWORKBOOK_CURAND="${WORKBOOK_CURAND_FOLDER}/curand_kernel.h">)
set(preprocessed "")
set(translated "")
foreach(number RANGE 15)
  set(one ${published}.${number})
  foreach(suffix .cu .options)
    if(NOT EXISTS ${one}${suffix})
      file(WRITE ${one}${suffix} "")
    endif()
  endforeach()
  add_custom_command(
    OUTPUT ${one}.ii
    COMMAND ${CMAKE_CXX_COMPILER} -E -x c++ -std=gnu++17 -O2 -fsanitize=thread -D__CUDACC__ -D__NVCC__ -D__CUDA_ARCH__=900
            ${curand} -MD -MF ${one}.d -MT ${one}.ii @${one}.options -isystem ${CMAKE_SOURCE_DIR}/common/published/headers
            -isystem ${CMAKE_SOURCE_DIR}/cpu_device/dialect/cuda_headers -isystem ${CMAKE_SOURCE_DIR}/common -isystem ${CMAKE_SOURCE_DIR} ${one}.cu -o ${one}.ii
    DEPENDS ${one}.cu ${one}.options
    DEPFILE ${one}.d
    COMMENT "Preprocessing"
    VERBATIM)
  list(APPEND preprocessed ${one}.ii)
  list(APPEND translated ${one}.cpp)
endforeach()
# All at once: a constant of --set must be in one of them. Those that stay the same are not compiled again.
add_custom_command(
  OUTPUT ${translated}
  COMMAND translate ${published}.set ${preprocessed}
  DEPENDS translate ${preprocessed} ${published}.set
  COMMENT "Translating"
  VERBATIM)
add_library(published_traced OBJECT EXCLUDE_FROM_ALL ${translated})
set_target_properties(published_traced PROPERTIES CXX_STANDARD 17 CXX_EXTENSIONS ON)
target_compile_options(published_traced PRIVATE ${WORKBOOK_KERNEL_FLAGS} ${WORKBOOK_FEW_ERRORS} ${WORKBOOK_PREFIX_MAP} -w
                                                $<$<CXX_COMPILER_ID:GNU>:-fpermissive -fno-gnu-unique>)
add_custom_command(
  OUTPUT ${published}.o
  COMMAND ${CMAKE_SOURCE_DIR}/cmake/join_objects.sh ${WORKBOOK_GNU_LD} ${WORKBOOK_GNU_OBJCOPY} ${WORKBOOK_GNU_NM} ${published}.o
          $<TARGET_OBJECTS:published_traced>
  DEPENDS $<TARGET_OBJECTS:published_traced> ${CMAKE_SOURCE_DIR}/cmake/join_objects.sh
  COMMENT "Hiding its symbols"
  COMMAND_EXPAND_LISTS VERBATIM)
set_source_files_properties(${published}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
configure_file(cmake/published_main.cpp.in ${CMAKE_BINARY_DIR}/published_main.cpp COPYONLY)
add_executable(published EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/published_main.cpp ${published}.o)
link_common_first(published)
