// zeros up to the next power of two, a lambda, x in float4
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

__global__ void sum_blocks(const float* x, float* out, unsigned n) {
  __shared__ float sums[1024];
  const unsigned t = threadIdx.x, thread = blockIdx.x * blockDim.x + t, threads = gridDim.x * blockDim.x;
  const auto of_four = [](float4 v) { return (v.x + v.y) + (v.z + v.w); };

  float sum = 0.0f;
  for (unsigned i = thread; i < n / 4; i += threads) sum += of_four(reinterpret_cast<const float4*>(x)[i]);
  if (n / 4 * 4 + thread < n) sum += x[n / 4 * 4 + thread];

  unsigned width = 1;
  while (width < blockDim.x) width *= 2;
  sums[t] = sum;
  if (t + blockDim.x < width) sums[t + blockDim.x] = 0.0f;
  __syncthreads();
  while (width > 1) {
    width /= 2;
    if (t < width) sums[t] += sums[t + width];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

}  // namespace DEVICE::multiply_add_sum
