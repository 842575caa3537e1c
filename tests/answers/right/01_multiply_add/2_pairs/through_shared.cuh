// each block copies its pairs to shared memory, float by float, side by side
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_pairs {

constexpr int kBlock = 128;

__global__ void tiles(const float* __restrict__ pairs, const float* __restrict__ v, float* __restrict__ out,
                      int n) {
  __shared__ float tile[2 * kBlock];
  const int first = blockIdx.x * kBlock;
  for (int j = threadIdx.x; j < 2 * kBlock; j += kBlock)
    if (2 * first + j < 2 * n) tile[j] = pairs[2 * first + j];
  __syncthreads();
  const int i = first + threadIdx.x;
  if (i < n) out[i] = tile[2 * threadIdx.x] * tile[2 * threadIdx.x + 1] + v[i];
}

inline void multiply_add(const float* pairs, const float* v, float* out, int n) {
  launch(tiles, (n + kBlock - 1) / kBlock, kBlock, pairs, v, out, n);
}

}  // namespace DEVICE::multiply_add_pairs
