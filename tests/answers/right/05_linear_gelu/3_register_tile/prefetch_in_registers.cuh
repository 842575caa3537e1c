// two pairs of transposed tiles; the next elements wait in registers; names that a specification may have
#pragma once
#include "device.hpp"

namespace DEVICE::linear_register_tile {

constexpr int kShapes = 64, kLimits = 8, kOutputs = 4, kArrays = 256;

struct Source {
  const float* a;
  int first_row, rows, k;
  __device__ float operator()(int row, int i) const {
    return first_row + row < rows && i < k ? a[static_cast<size_t>(first_row + row) * k + i] : 0.0f;
  }
};

__global__ void multiply(const float* x, const float* w, float* product, int m, int k, int n) {
  __shared__ float tiles[2][2][kLimits][kShapes + 1];
  const int t = threadIdx.x + blockDim.x * threadIdx.y, i = t % kLimits, row = t / kLimits;
  const Source run = {x, static_cast<int>(blockIdx.y) * kShapes, m, k};
  const Source limits = {w, static_cast<int>(blockIdx.x) * kShapes, n, k};
  float next[2][2];
  const auto fetch = [&](int first) {
    for (int half = 0; half < 2; ++half) {
      next[0][half] = run(row + 32 * half, first + i);
      next[1][half] = limits(row + 32 * half, first + i);
    }
  };
  const auto put = [&](int buffer) {
    for (int array = 0; array < 2; ++array)
      for (int half = 0; half < 2; ++half) tiles[buffer][array][i][row + 32 * half] = next[array][half];
  };
  float sums[kOutputs][kOutputs] = {};
  fetch(0);
  put(0);
  __syncthreads();
  const int blocks = (k + kLimits - 1) / kLimits;
  for (int block = 0; block < blocks; ++block) {
    if (block + 1 < blocks) fetch((block + 1) * kLimits);
    const auto& now = tiles[block % 2];
    for (int step = 0; step < kLimits; ++step) {
      float rows[kOutputs], elements[kOutputs];
      for (int j = 0; j < kOutputs; ++j) rows[j] = now[0][step][threadIdx.y + 16 * j];
      for (int j = 0; j < kOutputs; ++j) elements[j] = now[1][step][threadIdx.x + 16 * j];
      for (int r = 0; r < kOutputs; ++r)
        for (int c = 0; c < kOutputs; ++c) sums[r][c] += rows[r] * elements[c];
    }
    if (block + 1 < blocks) put((block + 1) % 2);
    __syncthreads();
  }
  for (int r = 0; r < kOutputs; ++r)
    for (int c = 0; c < kOutputs; ++c) {
      const int to_row = run.first_row + threadIdx.y + 16 * r,
                column = limits.first_row + threadIdx.x + 16 * c;
      if (to_row < m && column < n) product[static_cast<size_t>(to_row) * n + column] = sums[r][c];
    }
}

}  // namespace DEVICE::linear_register_tile
