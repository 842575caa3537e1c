// asynchronous copies; the end of k is not multiplied; names that a specification may have as well
#pragma once
#include "device.hpp"

namespace DEVICE::linear_tile {

constexpr int kShapes = 32, kArrays = 2;

__device__ inline bool elements(int row, int rows, int i, int k) { return row < rows && i < k; }

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, size_t m, size_t k, size_t n) {
  __shared__ float run[kShapes][kShapes], limits[kShapes][kShapes + 1];
  const int blocks = static_cast<int>((k + kShapes - 1) / kShapes);
  const size_t row = blockIdx.y * kShapes + threadIdx.y, column = blockIdx.x * kShapes + threadIdx.x;
  const size_t w_row = blockIdx.x * kShapes + threadIdx.y;
  float sum = 0.0f;
  for (int block = 0; block < blocks; ++block) {
    const size_t i = block * kShapes + threadIdx.x;
    if (elements(row, m, i, k))
      __pipeline_memcpy_async(&run[threadIdx.y][threadIdx.x], x + row * k + i, sizeof(float));
    if (elements(w_row, n, i, k))
      __pipeline_memcpy_async(&limits[threadIdx.y][threadIdx.x], w + w_row * k + i, sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const int count = min(kShapes, static_cast<int>(k) - block * kShapes);
    if (row < m && column < n)
      for (int j = 0; j < count; ++j) sum += run[threadIdx.y][j] * limits[threadIdx.x][j];
    __syncthreads();
  }
  if (row < m && column < n) product[row * n + column] = sum;
}

}  // namespace DEVICE::linear_tile
