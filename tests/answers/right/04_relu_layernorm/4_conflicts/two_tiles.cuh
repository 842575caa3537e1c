// two padded tiles in turn, with one barrier per tile
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_conflicts {

template <int Rows, int Columns>
struct Tile {
  float values[Rows][Columns + 1];
};

__device__ void fill(Tile<32, 32>& tile, const float* x, int first, int left, int rows, int columns) {
  const int t = threadIdx.x;
#pragma unroll
  for (int r = threadIdx.y; r < 32; r += 8) {
    float value = 0.0f;
    if (first + r < rows && left + t < columns)
      value = x[static_cast<size_t>(first + r) * columns + left + t];
    tile.values[r][t] = value;
  }
}

__global__ void sum_rows(const float* __restrict__ x, float* __restrict__ sums, int rows, int columns) {
  __shared__ Tile<32, 32> tiles[2];
  const int first = blockIdx.x * 32, t = threadIdx.x;
  float sum = 0.0f;
  int current = 0;
  fill(tiles[0], x, first, 0, rows, columns);
  for (int left = 0; left < columns; left += 32, current = 1 - current) {
    __syncthreads();
    if (left + 32 < columns) fill(tiles[1 - current], x, first, left + 32, rows, columns);
    if (threadIdx.y == 0)
      for (int k = 0; k < 32; ++k) sum += tiles[current].values[t][k];
  }
  if (threadIdx.y == 0 && first + t < rows) sums[first + t] = sum;
}

}  // namespace DEVICE::layernorm_conflicts
