// CUDA's header of this name, for programs: the CUDA Toolkit's own, which has all of cuRAND for
// kernels.
#pragma once

#ifndef WORKBOOK_CURAND
#error "curand_kernel.h is the CUDA Toolkit's, which was not found: its headers suffice"
#endif

// It takes these from other headers of CUDA.
enum libraryPropertyType { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END
static __forceinline__ __device__ float erfcinvf(float) {
  program::refuse("erfcinvf()", __FILE__, __LINE__);
  return 0;
}
static __forceinline__ __device__ double erfcinv(double) {
  program::refuse("erfcinv()", __FILE__, __LINE__);
  return 0;
}

#include WORKBOOK_CURAND
