// the tile is stored by columns with rows of 33 words, in a flat array, through lambdas
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_conflicts {

constexpr int kPitch = 33;

__global__ void sum_rows(const float* __restrict__ x, float* __restrict__ sums, unsigned rows,
                         unsigned columns) {
  __shared__ float kArrays[32 * kPitch];
  const unsigned lane = threadIdx.x, first = 32 * blockIdx.x;
  const auto at = [&](unsigned column, unsigned row) -> float& { return kArrays[column * kPitch + row]; };
  const auto load = [&](size_t r, size_t c) { return r < rows && c < columns ? x[r * columns + c] : 0.0f; };
  float sum = 0.0f;
  for (unsigned c = lane; c < (columns + 31) / 32 * 32; c += 32) {
    for (unsigned r = threadIdx.y; r < 32; r += 8) at(lane, r) = load(first + r, c);
    __syncthreads();
    if (threadIdx.y == 0)
      for (unsigned k = 0; k < 32; ++k) sum += at(k, lane);
    __syncthreads();
  }
  if (threadIdx.y == 0 && first + lane < rows) sums[first + lane] = sum;
}

}  // namespace DEVICE::layernorm_conflicts
