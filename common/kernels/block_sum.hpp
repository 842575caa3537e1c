/// \file
/// For kernels: the sum over a block of threads.
#pragma once
#include "device.hpp"

namespace DEVICE {

// [block_sum]
/// The sum of `value` over the Threads threads of the block, a power of two, in thread 0; every thread of the
/// block must call it. A tree in shared memory: half of the threads add, then a quarter, and so on. The order
/// is fixed, so the result is the same to the bit in every run.
template <int Threads>
__device__ inline float block_sum(float value) {
  __shared__ float sums[Threads];
  const unsigned t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
  for (unsigned half = Threads / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  return t == 0 ? sums[0] : 0.0f;
}
// [block_sum]

}  // namespace DEVICE
