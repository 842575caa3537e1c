/// \file
/// Stage 7: 16 bytes a load, from device memory and from shared memory. For the latter the tiles are
/// transposed on their way in: then the eight elements that a thread multiplies lie side by side.
#pragma once
#include "6_square.cuh"

namespace DEVICE::linear_gelu {

/// Elements i to i + 3 of a row of k, 0 where there are none: one load where `Aligned`, which wants k to be a
/// multiple of 4 and the row to begin at a multiple of 16 bytes.
template <bool Aligned>
__device__ inline float4 load_four(const float* row, int i, int k) {
  if constexpr (Aligned)
    return i < k ? *reinterpret_cast<const float4*>(row + i) : float4{};
  else
    return make_float4(i < k ? row[i] : 0.0f, i + 1 < k ? row[i + 1] : 0.0f, i + 2 < k ? row[i + 2] : 0.0f,
                       i + 3 < k ? row[i + 3] : 0.0f);
}

__device__ inline void eight_of(float (&to)[kEach], const float* from, int apart) {
  const float4 first = *reinterpret_cast<const float4*>(from);
  const float4 second = *reinterpret_cast<const float4*>(from + apart);
  to[0] = first.x, to[1] = first.y, to[2] = first.z, to[3] = first.w;
  to[4] = second.x, to[5] = second.y, to[6] = second.z, to[7] = second.w;
}

/// What is done to x on its way into the tile: nothing.
struct AsItIs {
  __device__ float4 operator()(float4 v) const { return v; }
};

/// product = load(x) * w^T, matrices as in stage 1: any m, k and n; `Aligned` as in load_four(), of both
/// matrices. Tiles and blocks of stage 6. A thread has eight rows, and of columns four in each half of the
/// tile, so that the lanes' loads of w lie side by side. Traffic: that of stage 6.
template <bool Aligned, class Load>
__global__ void __launch_bounds__(kThreads)
    product_by_vectors(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ product,
                       int m, int k, int n, Load load) {
  alignas(16) __shared__ float tile_x[kDepth][kSide + 4];
  alignas(16) __shared__ float tile_w[kDepth][kSide + 4];
  const int t = threadIdx.x, in_row = t / kAcross * kEach, in_column = t % kAcross * 4;
  const int first_row = blockIdx.y * kSide, first_column = blockIdx.x * kSide;
  const int load_row = t / 2, load_i = t % 2 * 4;
  const bool has_x = first_row + load_row < m, has_w = first_column + load_row < n;
  const float* x_row = x + static_cast<size_t>(first_row + load_row) * k;
  const float* w_row = w + static_cast<size_t>(first_column + load_row) * k;
  float sum[kEach][kEach] = {};
  for (int first = 0; first < k; first += kDepth) {
    const float4 of_x_row = has_x ? load(load_four<Aligned>(x_row, first + load_i, k)) : float4{};
    const float4 of_w_row = has_w ? load_four<Aligned>(w_row, first + load_i, k) : float4{};
    tile_x[load_i][load_row] = of_x_row.x;
    tile_x[load_i + 1][load_row] = of_x_row.y;
    tile_x[load_i + 2][load_row] = of_x_row.z;
    tile_x[load_i + 3][load_row] = of_x_row.w;
    tile_w[load_i][load_row] = of_w_row.x;
    tile_w[load_i + 1][load_row] = of_w_row.y;
    tile_w[load_i + 2][load_row] = of_w_row.z;
    tile_w[load_i + 3][load_row] = of_w_row.w;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      float of_x[kEach], of_w[kEach];
      eight_of(of_x, &tile_x[i][in_row], 4);
      eight_of(of_w, &tile_w[i][in_column], kSide / 2);
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
    for (int half = 0; half < 2; ++half) {
      const int column = first_column + half * kSide / 2 + in_column;
      float* to = product + static_cast<size_t>(row) * n + column;
      const float* of = &sum[r][half * 4];
      if (Aligned && n % 4 == 0) {
        if (row < m && column < n) *reinterpret_cast<float4*>(to) = make_float4(of[0], of[1], of[2], of[3]);
      } else {
#pragma unroll
        for (int c = 0; c < 4; ++c)
          if (row < m && column + c < n) to[c] = of[c];
      }
    }
  }
}

}  // namespace DEVICE::linear_gelu
