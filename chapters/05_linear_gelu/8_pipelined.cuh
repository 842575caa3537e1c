/// \file
/// Stage 8: the next tile is on its way while this one is multiplied. Asynchronous copies bypass the
/// registers, so they cannot transpose: a tile stays as it lies, and 16 bytes of shared memory are four of k,
/// not four rows.
#pragma once
#include "device.hpp"

namespace DEVICE::linear_gelu {

constexpr int kPart = 16;  // of k, in a tile
constexpr int kCopyThreads = 256;

/// Begins to copy a tile of `Rows` rows from `first_row` and kPart columns from `first` of a matrix of rows x
/// k, with zeros where it has none. `Width` elements a copy: 4 where rows begin at multiples of 16 bytes,
/// or 1.
template <int Rows, int Width, int Pitch>
__device__ void copy_tile(float (*tile)[Pitch], const float* __restrict__ matrix, int first_row, int first,
                          int rows, int k) {
#pragma unroll
  for (int j = threadIdx.x; j < Rows * kPart / Width; j += kCopyThreads) {
    const int row = j / (kPart / Width), i = j % (kPart / Width) * Width;
    const bool inside = first_row + row < rows && first + i < k;
    const float* from = inside ? matrix + static_cast<size_t>(first_row + row) * k + first + i : matrix;
    __pipeline_memcpy_async(&tile[row][i], from, Width * sizeof(float), inside ? 0 : Width * sizeof(float));
  }
}

__device__ inline float4 vector_of(const float* from) { return *reinterpret_cast<const float4*>(from); }

/// sum + the products of the elements, in their order.
__device__ inline float plus_products(float sum, float4 a, float4 b) {
  sum += a.x * b.x;
  sum += a.y * b.y;
  sum += a.z * b.z;
  return sum + a.w * b.w;
}

/// product = x * w^T, matrices as in stage 1: any m, k and n; `Width` as in copy_tile(), for both matrices. A
/// block of kCopyThreads threads per tile of 128 x 128; a thread has every 16th row and column. A row of a
/// tile has 20 words, so that the vectors of 8 rows lie in different banks. Traffic: that of stage 6, and a
/// sector more for every second row of a tile, which begins in the middle of one.
template <int Width>
__global__ void __launch_bounds__(kCopyThreads)
    product_pipelined(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ product,
                      int m, int k, int n) {
  constexpr int kTileSide = 128, kThreadSide = 8, kApart = 16, kPitch = kPart + 4;
  alignas(16) __shared__ float tile_x[2][kTileSide][kPitch];
  alignas(16) __shared__ float tile_w[2][kTileSide][kPitch];
  const int first_row = blockIdx.y * kTileSide, first_column = blockIdx.x * kTileSide;
  const int in_row = threadIdx.x / kApart, in_column = threadIdx.x % kApart;
  const auto copy = [&](int buffer, int first) {
    if (first < k) {
      copy_tile<kTileSide, Width>(tile_x[buffer], x, first_row, first, m, k);
      copy_tile<kTileSide, Width>(tile_w[buffer], w, first_column, first, n, k);
    }
    __pipeline_commit();
  };
  copy(0, 0);
  float sum[kThreadSide][kThreadSide] = {};
  for (int first = 0, buffer = 0; first < k; first += kPart, buffer ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();  // this tile is there, and everyone is done with the other
    copy(buffer ^ 1, first + kPart);
#pragma unroll
    for (int i = 0; i < kPart; i += 4) {
      float4 of_w[kThreadSide];
#pragma unroll
      for (int c = 0; c < kThreadSide; ++c) of_w[c] = vector_of(&tile_w[buffer][in_column + c * kApart][i]);
#pragma unroll
      for (int r = 0; r < kThreadSide; ++r) {
        const float4 of_x = vector_of(&tile_x[buffer][in_row + r * kApart][i]);
#pragma unroll
        for (int c = 0; c < kThreadSide; ++c) sum[r][c] = plus_products(sum[r][c], of_x, of_w[c]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kThreadSide; ++r) {
    const int row = first_row + in_row + r * kApart;
#pragma unroll
    for (int c = 0; c < kThreadSide; ++c) {
      const int column = first_column + in_column + c * kApart;
      if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum[r][c];
    }
  }
}

}  // namespace DEVICE::linear_gelu
