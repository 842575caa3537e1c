// loops over rows and columns, lambdas, two sums per lane, names that a specification may have as well
#pragma once
#include "device.hpp"

namespace DEVICE::linear_coalesce {

constexpr int kLimits = 32, kArrays = 2;

__device__ inline size_t elements(size_t rows, size_t columns) { return rows * columns; }
__device__ inline int blocks(int n) { return (n + 7) / 8; }

__global__ void multiply(const float* x, const float* w, float* product, size_t k, size_t n) {
  const int lane = threadIdx.x % kLimits;
  const auto reduce = [](float v) {
    constexpr int kShapes[] = {16, 8, 4, 2, 1};
    for (const int distance : kShapes) v += __shfl_down_sync(0xffffffffu, v, distance);
    return v;
  };
  for (int block = blockIdx.y; block < blocks(n); block += gridDim.y) {
    const size_t column = block * 8 + threadIdx.y;
    if (column >= n) continue;
    const float *run = x + elements(blockIdx.x, k), *rows = w + elements(column, k);
    float sums[kArrays] = {0.0f, 0.0f};
    size_t i = lane;
    for (; i + 32 < k; i += 64) {
      sums[0] += run[i] * rows[i];
      sums[1] += run[i + 32] * rows[i + 32];
    }
    if (i < k) sums[0] += run[i] * rows[i];
    const float sum = reduce(sums[0] + sums[1]);
    if (lane == 0) product[elements(blockIdx.x, n) + column] = sum;
  }
}

}  // namespace DEVICE::linear_coalesce
