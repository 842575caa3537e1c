/// \file
/// Stage 8, second half: launches that overlap. A kernel that is launched as dependent may begin while the
/// one ahead of it still runs, and waits inside, as late as it can. Compute capability 9.0 and newer.
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp {

/// Stage 2's kernel for a chain of launches. It lets the next launch begin at once, and waits for the one
/// before only when its own loads are on their way. Traffic: that of stage 2.
__global__ void dependent(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
                          int n) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float sum = i < n ? x[i] + y[i] : 0.0f;
  cudaGridDependencySynchronize();  // from here on what the launch before has written can be seen
  if (i < n) out[i] = expf(sum * 2.0f);
#endif
}

}  // namespace DEVICE::add_mul_exp
