/// \file
/// Features of CUDA that the CPU device does not have: using one is a compile error that says what to use
/// instead. The functions are declared so that the compiler knows their names, and never defined. Programs
/// have some of them (program.hpp).
#pragma once

#define WORKBOOK_UNSUPPORTED(name, why) \
  template <class... Types>             \
  __attribute__((unavailable(why))) int name(Types...);

// Also callable as name<T>(...): the type comes first.
#define WORKBOOK_UNSUPPORTED_OF_TYPE(name, why) \
  template <class T, class... Types>            \
  __attribute__((unavailable(why))) T name(Types...);

namespace cpu {

#ifndef WORKBOOK_PROGRAM
#define WORKBOOK_NO_CLOCK "the CPU device does not measure time: time kernels on a GPU, with --device gpu"
WORKBOOK_UNSUPPORTED(clock, WORKBOOK_NO_CLOCK)
WORKBOOK_UNSUPPORTED(clock64, WORKBOOK_NO_CLOCK)
WORKBOOK_UNSUPPORTED(__nanosleep, WORKBOOK_NO_CLOCK)
#undef WORKBOOK_NO_CLOCK
#endif

#define WORKBOOK_NO_TEXTURES "textures and surfaces are not supported: pass a pointer to the kernel"
WORKBOOK_UNSUPPORTED_OF_TYPE(tex1Dfetch, WORKBOOK_NO_TEXTURES)
WORKBOOK_UNSUPPORTED_OF_TYPE(tex1D, WORKBOOK_NO_TEXTURES)
WORKBOOK_UNSUPPORTED_OF_TYPE(tex2D, WORKBOOK_NO_TEXTURES)
WORKBOOK_UNSUPPORTED_OF_TYPE(tex3D, WORKBOOK_NO_TEXTURES)
WORKBOOK_UNSUPPORTED_OF_TYPE(surf2Dread, WORKBOOK_NO_TEXTURES)
WORKBOOK_UNSUPPORTED(surf2Dwrite, WORKBOOK_NO_TEXTURES)
typedef unsigned long long cudaTextureObject_t __attribute__((unavailable(WORKBOOK_NO_TEXTURES)));
typedef unsigned long long cudaSurfaceObject_t __attribute__((unavailable(WORKBOOK_NO_TEXTURES)));
#undef WORKBOOK_NO_TEXTURES

#ifndef WORKBOOK_PROGRAM
#define WORKBOOK_NO_RUNTIME                                                                             \
  "not in a kernel file, where memory is the program's to allocate: list arrays in chapter.cu and use " \
  "launch(kernel, grid, block, arguments...)"
WORKBOOK_UNSUPPORTED(cudaMalloc, WORKBOOK_NO_RUNTIME)
WORKBOOK_UNSUPPORTED(cudaMallocManaged, WORKBOOK_NO_RUNTIME)
WORKBOOK_UNSUPPORTED(cudaFree, WORKBOOK_NO_RUNTIME)
WORKBOOK_UNSUPPORTED(cudaMemcpy, WORKBOOK_NO_RUNTIME)
WORKBOOK_UNSUPPORTED(cudaMemcpyAsync, WORKBOOK_NO_RUNTIME)
WORKBOOK_UNSUPPORTED(cudaMemset, WORKBOOK_NO_RUNTIME)
WORKBOOK_UNSUPPORTED(cudaDeviceSynchronize, WORKBOOK_NO_RUNTIME)
WORKBOOK_UNSUPPORTED(cudaLaunchKernel, WORKBOOK_NO_RUNTIME)
#undef WORKBOOK_NO_RUNTIME
#endif

#define WORKBOOK_NO_MASK "CUDA has removed it: use the function that ends in _sync, with a mask"
WORKBOOK_UNSUPPORTED(__shfl, WORKBOOK_NO_MASK)
WORKBOOK_UNSUPPORTED(__shfl_up, WORKBOOK_NO_MASK)
WORKBOOK_UNSUPPORTED(__shfl_down, WORKBOOK_NO_MASK)
WORKBOOK_UNSUPPORTED(__shfl_xor, WORKBOOK_NO_MASK)
WORKBOOK_UNSUPPORTED(__ballot, WORKBOOK_NO_MASK)
WORKBOOK_UNSUPPORTED(__any, WORKBOOK_NO_MASK)
WORKBOOK_UNSUPPORTED(__all, WORKBOOK_NO_MASK)
#undef WORKBOOK_NO_MASK

#define WORKBOOK_NO_MATCH "not supported: compare values with __shfl_sync or __ballot_sync"
WORKBOOK_UNSUPPORTED(__match_any_sync, WORKBOOK_NO_MATCH)
WORKBOOK_UNSUPPORTED(__match_all_sync, WORKBOOK_NO_MATCH)
WORKBOOK_UNSUPPORTED(__reduce_add_sync, "not supported: add up with __shfl_xor_sync")
#undef WORKBOOK_NO_MATCH

}  // namespace cpu

#undef WORKBOOK_UNSUPPORTED
#undef WORKBOOK_UNSUPPORTED_OF_TYPE

#ifndef WORKBOOK_PROGRAM
// Keywords of the language; and asm last, which must not stand in the headers before it.
#define WORKBOOK_NO_WORD(text) _Pragma(#text)
#define __managed__ WORKBOOK_NO_WORD(GCC error "managed memory is not supported: list arrays in chapter.cu")
#define __cluster_dims__(...) \
  WORKBOOK_NO_WORD(GCC error "clusters run on a GPU alone: put them in *.sm90a.cuh")
#define asm WORKBOOK_NO_WORD(GCC error "inline PTX runs on a GPU alone: put it in *.sm90a.cuh") __asm__
#endif
