// tiles of 64 x 64, sixteen elements per thread, and a kernel of another name
#pragma once
#include "device.hpp"

namespace DEVICE::linear_epilogue {

constexpr int kSide = 64, kDepth = 8, kAcross = 16, kEach = 4;

__device__ inline float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678118654752f)); }

__global__ void linear_kernel(const float* __restrict__ x, const float* __restrict__ w,
                              const float* __restrict__ bias, float* __restrict__ y, int m, int k, int n) {
  __shared__ float tile_x[kSide][kDepth + 1], tile_w[kSide][kDepth + 1];
  const int t = threadIdx.y * kAcross + threadIdx.x;
  const int first_row = blockIdx.y * kSide, first_column = blockIdx.x * kSide;
  float sum[kEach][kEach] = {};
  for (int first = 0; first < k; first += kDepth) {
    for (int j = t; j < kSide * kDepth; j += kAcross * kAcross) {
      const int row = j / kDepth, i = first + j % kDepth;
      const bool in_x = first_row + row < m && i < k, in_w = first_column + row < n && i < k;
      tile_x[row][j % kDepth] = in_x ? x[static_cast<size_t>(first_row + row) * k + i] : 0.0f;
      tile_w[row][j % kDepth] = in_w ? w[static_cast<size_t>(first_column + row) * k + i] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < kDepth; ++i) {
      float of_x[kEach], of_w[kEach];
      for (int r = 0; r < kEach; ++r) of_x[r] = tile_x[threadIdx.y + r * kAcross][i];
      for (int c = 0; c < kEach; ++c) of_w[c] = tile_w[threadIdx.x + c * kAcross][i];
      for (int r = 0; r < kEach; ++r)
        for (int c = 0; c < kEach; ++c) sum[r][c] += of_x[r] * of_w[c];
    }
    __syncthreads();
  }
  for (int c = 0; c < kEach; ++c) {
    const int column = first_column + threadIdx.x + c * kAcross;
    if (column >= n) break;
    const float shift = bias[column];
    for (int r = 0; r < kEach; ++r) {
      const int row = first_row + threadIdx.y + r * kAcross;
      if (row < m) y[static_cast<size_t>(row) * n + column] = gelu(sum[r][c] + shift);
    }
  }
}

void linear(const float* x, const float* w, const float* bias, float* y, int m, int k, int n) {
  const dim3 threads(kAcross, kAcross);
  const dim3 blocks((n + kSide - 1) / kSide, (m + kSide - 1) / kSide);
  launch(linear_kernel, blocks, threads, x, w, bias, y, m, k, n);
}

}  // namespace DEVICE::linear_epilogue
