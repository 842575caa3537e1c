// each lane begins at another column of its row
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_conflicts {

__global__ void sum_rows(const float* x, float* sums, int rows, int columns) {
  __shared__ float tile[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row0 = blockIdx.x * 32;
  float acc = 0;
  for (int col0 = 0; col0 < columns; col0 += 32) {
#pragma unroll
    for (int i = 0; i < 32; i += 8) {
      const int r = row0 + ty + i, c = col0 + tx;
      tile[ty + i][tx] = (r < rows && c < columns) ? x[(size_t)r * columns + c] : 0.f;
    }
    __syncthreads();
    if (ty == 0) {
#pragma unroll
      for (int k = 0; k < 32; k++) acc += tile[tx][(tx + k) % 32];
    }
    __syncthreads();
  }
  if (ty == 0 && row0 + tx < rows) sums[row0 + tx] = acc;
}

}  // namespace DEVICE::layernorm_conflicts
