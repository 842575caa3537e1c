/// \file
/// Stage 8, second half: launches that overlap. A kernel that is launched as dependent may begin while the
/// one before it still runs; it waits for that one itself, as late as it can. Compute capability 9.0 and
/// newer.
#pragma once
#include "08_many.cuh"

namespace DEVICE::add_mul_exp {

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

// --- On the host ---

struct Dependent {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    const int part = part_of(a.n);
    for (int begin = 0; begin < a.n; begin += part) {
      const int n = begin + part < a.n ? part : a.n - begin;
      launch_dependent(dependent, ceil_div(n, kThreads), kThreads, a.x + begin, a.y + begin, a.out + begin,
                       n);
    }
  }
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
};

}  // namespace DEVICE::add_mul_exp
