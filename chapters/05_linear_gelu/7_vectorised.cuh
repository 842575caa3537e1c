/// \file
/// Stage 7: 16 bytes a load, from device memory and from shared memory. For the latter the tiles are
/// transposed on their way in: then the eight elements that a thread multiplies lie side by side.
#pragma once
#include "6_square.cuh"

namespace DEVICE::linear_gelu {

using TileRow = float[kSide + 4];  // of a tile that is transposed

/// The four elements from `from`, of which the row has `left`, then zeros: in one load where `aligned`, which
/// wants `left` to be a multiple of 4 and `from` to be one of 16 bytes.
__device__ inline float4 load_four(const float* from, int left, bool aligned) {
  if (aligned) return left > 0 ? *reinterpret_cast<const float4*>(from) : float4{};
  return make_float4(left > 0 ? from[0] : 0.0f, left > 1 ? from[1] : 0.0f, left > 2 ? from[2] : 0.0f,
                     left > 3 ? from[3] : 0.0f);
}

/// Puts elements i to i + 3 of a row into a transposed tile.
__device__ inline void put_four(TileRow* tile, int row, int i, float4 v) {
  tile[i][row] = v.x;
  tile[i + 1][row] = v.y;
  tile[i + 2][row] = v.z;
  tile[i + 3][row] = v.w;
}

__device__ inline void eight_of(float (&to)[kEach], const float* from, int apart) {
  const float4 first = *reinterpret_cast<const float4*>(from);
  const float4 second = *reinterpret_cast<const float4*>(from + apart);
  to[0] = first.x, to[1] = first.y, to[2] = first.z, to[3] = first.w;
  to[4] = second.x, to[5] = second.y, to[6] = second.z, to[7] = second.w;
}

/// sum += of_x * of_w^T.
__device__ inline void add_products(float (&sum)[kEach][kEach], const float (&of_x)[kEach],
                                    const float (&of_w)[kEach]) {
#pragma unroll
  for (int r = 0; r < kEach; ++r)
#pragma unroll
    for (int c = 0; c < kEach; ++c) sum[r][c] += of_x[r] * of_w[c];
}

/// Whether all rows of n elements begin at multiples of 16 bytes.
__device__ inline bool starts_vectors(const float* rows, int n) {
  return n % 4 == 0 && reinterpret_cast<size_t>(rows) % 16 == 0;
}

/// Writes the four elements from `from`, of which the row has `left`: in one store where `aligned`, as in
/// load_four().
__device__ inline void store_four(float* to, const float* from, int left, bool aligned) {
  if (aligned) {
    if (left > 0) *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (j < left) to[j] = from[j];
  }
}

/// product = x * w^T, matrices as in stage 1: any m, k and n; `Aligned` promises of x and w that all rows
/// begin at multiples of 16 bytes. Tiles and blocks of stage 6. A thread has eight rows, and of columns four
/// in each half of the tile, so that the lanes' loads of w lie side by side. Traffic: that of stage 6.
template <bool Aligned>
__global__ void __launch_bounds__(kThreads)
    product_by_vectors(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ product,
                       int m, int k, int n) {
  alignas(16) __shared__ TileRow tile_x[kDepth], tile_w[kDepth];
  const int t = threadIdx.x, in_row = t / kAcross * kEach, in_column = t % kAcross * 4;
  const int first_row = blockIdx.y * kSide, first_column = blockIdx.x * kSide;
  const int load_row = t / 2, load_i = t % 2 * 4;
  const bool has_x = first_row + load_row < m, has_w = first_column + load_row < n;
  const float* my_x = x + static_cast<size_t>(first_row + load_row) * k + load_i;
  const float* my_w = w + static_cast<size_t>(first_column + load_row) * k + load_i;
  float sum[kEach][kEach] = {};
  for (int first = 0; first < k; first += kDepth) {
    const int left = k - first - load_i;
    put_four(tile_x, load_row, load_i, has_x ? load_four(my_x + first, left, Aligned) : float4{});
    put_four(tile_w, load_row, load_i, has_w ? load_four(my_w + first, left, Aligned) : float4{});
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      float of_x[kEach], of_w[kEach];
      eight_of(of_x, &tile_x[i][in_row], 4);
      eight_of(of_w, &tile_w[i][in_column], kSide / 2);
      add_products(sum, of_x, of_w);
    }
    __syncthreads();
  }
  const bool aligned = starts_vectors(product, n);
#pragma unroll
  for (int r = 0; r < kEach; ++r) {
    const int row = first_row + in_row + r;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = first_column + half * kSide / 2 + in_column;
      if (row < m)
        store_four(product + static_cast<size_t>(row) * n + column, &sum[r][half * 4], n - column, aligned);
    }
  }
}

}  // namespace DEVICE::linear_gelu
