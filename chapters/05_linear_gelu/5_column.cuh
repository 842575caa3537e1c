/// \file
/// Stage 5: each thread computes eight elements, one below the other. Shared memory is now what limits: of
/// two loads for a multiplication one is left, since an element of w serves eight.
#pragma once
#include "device.hpp"

namespace DEVICE::linear_gelu {

constexpr int kSide5 = 64, kDepth5 = 8, kRows5 = 8, kThreads5 = kSide5 * kSide5 / kRows5;

/// product = x * w^T, matrices as in stage 1: any m, k and n. A block of kThreads5 threads per tile of kSide5
/// x kSide5. Reads 4mnk(1/kSide5 + 1/kSide5) bytes.
__global__ void product_by_columns(const float* __restrict__ x, const float* __restrict__ w,
                                   float* __restrict__ product, int m, int k, int n) {
  __shared__ float tile_x[kSide5][kDepth5], tile_w[kSide5][kDepth5 + 1];
  const int t = threadIdx.x, load_row = t / kDepth5, load_i = t % kDepth5;
  const int x_row = blockIdx.y * kSide5 + load_row, w_row = blockIdx.x * kSide5 + load_row;
  const int in_column = t % kSide5, in_row = t / kSide5 * kRows5;
  float sum[kRows5] = {};
  for (int first = 0; first < k; first += kDepth5) {
    const int i = first + load_i;
    tile_x[load_row][load_i] = x_row < m && i < k ? x[static_cast<size_t>(x_row) * k + i] : 0.0f;
    tile_w[load_row][load_i] = w_row < n && i < k ? w[static_cast<size_t>(w_row) * k + i] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kDepth5; ++j) {
      const float of_w = tile_w[in_column][j];
#pragma unroll
      for (int r = 0; r < kRows5; ++r) sum[r] += tile_x[in_row + r][j] * of_w;
    }
    __syncthreads();
  }
  const int column = blockIdx.x * kSide5 + in_column;
#pragma unroll
  for (int r = 0; r < kRows5; ++r) {
    const int row = blockIdx.y * kSide5 + in_row + r;
    if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum[r];
  }
}

}  // namespace DEVICE::linear_gelu
