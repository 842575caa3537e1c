// NVIDIA's idiom: the mask is a ballot, and a value from a lane outside of it is not used | shuffle from a lane
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_shuffle {

__global__ void row_squares(const float* x, float* squares, int columns) {
  __shared__ float sums[32];
  const unsigned full = 0xffffffffu, warps = blockDim.x / 32;
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c] * row[c];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(full, sum, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();

  const unsigned mask = __ballot_sync(full, threadIdx.x < warps);
  if (threadIdx.x < warps) {
    sum = sums[threadIdx.x];
    for (unsigned offset = 16; offset > 0; offset /= 2) {
      const float other = __shfl_down_sync(mask, sum, offset);
      if (threadIdx.x + offset < warps) sum += other;
    }
    if (threadIdx.x == 0) squares[blockIdx.x] = sum;
  }
}

}  // namespace DEVICE::layernorm_shuffle
