// through shared memory, without a barrier between writing and reading it | uninitialised shared memory: kernel tiles
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_pairs {

__global__ void tiles(const float* pairs, const float* v, float* out, int n) {
  __shared__ float tile[512];
  const int first = blockIdx.x * 256;
  for (int j = threadIdx.x; j < 512; j += 256)
    if (2 * first + j < 2 * n) tile[j] = pairs[2 * first + j];
  const int i = first + threadIdx.x;
  if (i < n) out[i] = tile[2 * threadIdx.x] * tile[2 * threadIdx.x + 1] + v[i];
}

inline void multiply_add(const float* pairs, const float* v, float* out, int n) {
  launch(tiles, (n - 1) / 256 + 1, 256, pairs, v, out, n);
}

}  // namespace DEVICE::multiply_add_pairs
