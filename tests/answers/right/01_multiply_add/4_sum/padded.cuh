// one float of padding after every 32, a template for the most threads
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

template <unsigned Most>
struct BlockSum {
  __device__ static unsigned at(unsigned i) { return i + i / 32; }

  __device__ float operator()(float value) const {
    __shared__ float s[Most + Most / 32];
    s[at(threadIdx.x)] = value;
    for (unsigned d = Most / 2; d != 0; d >>= 1) {
      __syncthreads();
      if (threadIdx.x < d && threadIdx.x + d < blockDim.x) s[at(threadIdx.x)] += s[at(threadIdx.x + d)];
    }
    return threadIdx.x == 0 ? s[0] : 0;
  }
};

__global__ void sum_blocks(const float* x, float* out, unsigned n) {
  unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
  float sum = 0.f;
  while (i < n) {
    sum += x[i];
    i += blockDim.x * gridDim.x;
  }
  const float all = BlockSum<1024>()(sum);
  if (!threadIdx.x) out[blockIdx.x] = all;
}

}  // namespace DEVICE::multiply_add_sum
