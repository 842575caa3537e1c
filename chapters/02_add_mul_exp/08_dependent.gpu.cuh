/// \file
/// Stage 8, second half: launches that overlap. A kernel that is launched as dependent may begin while the
/// one before it still runs; it waits for that one itself, as late as it can. Compute capability 9.0 and
/// newer.
#pragma once
#include "08_many.cuh"

namespace DEVICE::add_mul_exp {

#ifdef WORKBOOK_GPU
/// Stage 2's kernel for a chain of launches. It lets the next launch begin at once, and waits for the one
/// before only when its own loads are in flight. Traffic: that of stage 2.
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

#endif

// --- On the host ---

struct Dependent {
  static constexpr Stage row =
      kElementwise.with({.name = "08_dependent",
                         .idea = "16 launches that may overlap: programmatic dependent launch",
                         .kernels = kAnyNumber,
                         .needs = "a GPU of compute capability 9.0",
                         .capability = 90});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) {
    const int n = length(data.shape);
    const int part = part_of(n);
    for (int begin = 0; begin < n; begin += part) {
      const int count = begin + part < n ? part : n - begin;
      launch_dependent(dependent, ceil_div(count, kThreads), kThreads, data[kX] + begin, data[kY] + begin,
                       data[kOut] + begin, count);
    }
  }
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
#endif
};

}  // namespace DEVICE::add_mul_exp
