/// \file
/// Stage 6: each thread computes 8 x 8 elements: 16 loads from shared memory for 64 multiplications.
/// Neighbouring threads have neighbouring squares, and their loads of w meet in the same banks.
#pragma once
#include "device.hpp"

namespace DEVICE::linear_gelu {

constexpr int kSide = 128, kDepth = 8, kEach = 8;
constexpr int kAcross = kSide / kEach, kThreads = kAcross * kAcross;

/// product = x * w^T, matrices as in stage 1: any m, k and n. A block of kThreads threads per tile of kSide x
/// kSide. Reads 4mnk(1/kSide + 1/kSide) bytes.
__global__ void __launch_bounds__(kThreads)
    product_by_squares(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ product,
                       int m, int k, int n) {
  __shared__ float tile_x[kSide][kDepth + 1], tile_w[kSide][kDepth + 1];
  const int t = threadIdx.x, in_column = t % kAcross * kEach, in_row = t / kAcross * kEach;
  const int first_row = blockIdx.y * kSide, first_column = blockIdx.x * kSide;
  float sum[kEach][kEach] = {};
  for (int first = 0; first < k; first += kDepth) {
#pragma unroll
    for (int j = t; j < kSide * kDepth; j += kThreads) {
      const int row = j / kDepth, i = j % kDepth;
      const bool inside = first + i < k;
      tile_x[row][i] =
          inside && first_row + row < m ? x[static_cast<size_t>(first_row + row) * k + first + i] : 0.0f;
      tile_w[row][i] = inside && first_column + row < n
                           ? w[static_cast<size_t>(first_column + row) * k + first + i]
                           : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      float of_x[kEach], of_w[kEach];
#pragma unroll
      for (int j = 0; j < kEach; ++j) of_x[j] = tile_x[in_row + j][i];
#pragma unroll
      for (int j = 0; j < kEach; ++j) of_w[j] = tile_w[in_column + j][i];
#pragma unroll
      for (int r = 0; r < kEach; ++r)
#pragma unroll
        for (int c = 0; c < kEach; ++c) sum[r][c] += of_x[r] * of_w[c];
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kEach; ++r) {
    const int row = first_row + in_row + r;
#pragma unroll
    for (int c = 0; c < kEach; ++c) {
      const int column = first_column + in_column + c;
      if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum[r][c];
    }
  }
}

}  // namespace DEVICE::linear_gelu
