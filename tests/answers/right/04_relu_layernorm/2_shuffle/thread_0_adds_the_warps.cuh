// shuffles downwards, and thread 0 adds up the warps' sums
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_shuffle {

__global__ void row_squares(const float* x, float* squares, int columns) {
  __shared__ float warps[32];
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5, blocks = blockDim.x >> 5;
  const float* row = x + (size_t)blockIdx.x * columns;
  float sum = 0;
  for (int c = t; c < columns; c += blockDim.x) sum += row[c] * row[c];
  sum += __shfl_down_sync(0xffffffff, sum, 16);
  sum += __shfl_down_sync(0xffffffff, sum, 8);
  sum += __shfl_down_sync(0xffffffff, sum, 4);
  sum += __shfl_down_sync(0xffffffff, sum, 2);
  sum += __shfl_down_sync(0xffffffff, sum, 1);
  if (lane == 0) warps[warp] = sum;
  __syncthreads();
  if (t != 0) return;
  for (int w = 1; w < blocks; ++w) sum += warps[w];
  squares[blockIdx.x] = sum;
}

}  // namespace DEVICE::layernorm_shuffle
