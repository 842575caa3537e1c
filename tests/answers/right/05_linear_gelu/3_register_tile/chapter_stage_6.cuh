// stage 6 of the chapter, with tiles of 64 x 64: the loads of w conflict
#pragma once
#include "device.hpp"

namespace DEVICE::linear_register_tile {

constexpr int BM = 64, BN = 64, BK = 8, TM = 4, TN = 4;
constexpr int kThreadsAcross = BN / TN, kThreads = BM / TM * kThreadsAcross;

__device__ inline void add_products(float (&acc)[TM][TN], const float (&of_x)[TM], const float (&of_w)[TN]) {
#pragma unroll
  for (int r = 0; r < TM; ++r)
#pragma unroll
    for (int c = 0; c < TN; ++c) acc[r][c] += of_x[r] * of_w[c];
}

__global__ void __launch_bounds__(kThreads)
    multiply(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ product, int m,
             int k, int n) {
  __shared__ float tile_x[BM][BK + 1], tile_w[BN][BK + 1];
  const int t = threadIdx.y * kThreadsAcross + threadIdx.x;
  const int in_column = t % kThreadsAcross * TN, in_row = t / kThreadsAcross * TM;
  const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
  float acc[TM][TN] = {};
  for (int first = 0; first < k; first += BK) {
#pragma unroll
    for (int j = t; j < BM * BK; j += kThreads) {
      const int row = j / BK, i = j % BK;
      const bool inside = first + i < k;
      tile_x[row][i] =
          inside && first_row + row < m ? x[static_cast<size_t>(first_row + row) * k + first + i] : 0.0f;
      tile_w[row][i] = inside && first_column + row < n
                           ? w[static_cast<size_t>(first_column + row) * k + first + i]
                           : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BK; ++i) {
      float of_x[TM], of_w[TN];
#pragma unroll
      for (int j = 0; j < TM; ++j) of_x[j] = tile_x[in_row + j][i];
#pragma unroll
      for (int j = 0; j < TN; ++j) of_w[j] = tile_w[in_column + j][i];
      add_products(acc, of_x, of_w);
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    const int row = first_row + in_row + r;
#pragma unroll
    for (int c = 0; c < TN; ++c) {
      const int column = first_column + in_column + c;
      if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = acc[r][c];
    }
  }
}

}  // namespace DEVICE::linear_register_tile
