/// \file
/// Stage 8: the next tile is on its way while this one is multiplied. An asynchronous copy of 4 bytes takes
/// an element to its place in the transposed tile without a register.
#pragma once
#include "7_vectorised.cuh"

namespace DEVICE::linear_gelu {

/// Copies tiles of kSide rows from `first_row` on of a matrix of rows x k, for a block of kThreads threads: a
/// warp copies a sector of each of four rows at a time. `Whole` promises that the matrix has all that is
/// copied; else there are zeros where it has nothing.
template <bool Whole>
struct TileSource {
  const float* mine;  // this thread's first element
  int rows, k;        // of the matrix, from that one on
  __device__ TileSource(const float* matrix, int first_row, int all_rows, int all_k) {
    const int row = first_row + threadIdx.x / kDepth, i = threadIdx.x % kDepth;
    mine = matrix + static_cast<size_t>(row) * all_k + i;
    rows = all_rows - row;
    k = all_k;
  }

  /// Begins to copy kDepth columns from `first`, transposed.
  __device__ void copy(TileRow* tile, int first) const {
    const int in_row = threadIdx.x / kDepth, i = threadIdx.x % kDepth;
#pragma unroll
    for (int j = 0; j < kSide; j += kThreads / kDepth) {
      const bool inside = Whole || (j < rows && first + i < k);
      __pipeline_memcpy_async(&tile[i][in_row + j], mine + static_cast<size_t>(j) * k + first, sizeof(float),
                              inside ? 0 : sizeof(float));
    }
  }
};

/// product = x * w^T, matrices as in stage 1: any m, k and n; `Whole` wants m and n to be multiples of kSide,
/// k one of kDepth, and product to begin at a multiple of 16 bytes. Tiles, threads and traffic of stage 7.
template <bool Whole>
__global__ void __launch_bounds__(kThreads, 2)
    product_pipelined(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ product,
                      int m, int k, int n) {
  alignas(16) __shared__ TileRow tile_x[2][kDepth], tile_w[2][kDepth];
  const int in_row = threadIdx.x / kAcross * kEach, in_column = threadIdx.x % kAcross * 4;
  const int first_row = blockIdx.y * kSide, first_column = blockIdx.x * kSide;
  const TileSource<Whole> of_x_rows(x, first_row, m, k), of_w_rows(w, first_column, n, k);
  const auto copy = [&](int buffer, int first) {
    if (first < k) {
      of_x_rows.copy(tile_x[buffer], first);
      of_w_rows.copy(tile_w[buffer], first);
    }
    __pipeline_commit();
  };
  copy(0, 0);
  float sum[kEach][kEach] = {};
  for (int first = 0, buffer = 0; first < k; first += kDepth, buffer ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();  // this tile is there, and everyone is done with the other
    copy(buffer ^ 1, first + kDepth);
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      float of_x[kEach], of_w[kEach];
      eight_of(of_x, &tile_x[buffer][i][in_row], 4);
      eight_of(of_w, &tile_w[buffer][i][in_column], kSide / 2);
      add_products(sum, of_x, of_w);
    }
  }
  const bool aligned = Whole || starts_vectors(product, n);
#pragma unroll
  for (int r = 0; r < kEach; ++r) {
    const int row = first_row + in_row + r;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = first_column + half * kSide / 2 + in_column;
      if (Whole || row < m)
        store_four(product + static_cast<size_t>(row) * n + column, &sum[r][half * 4], n - column, aligned);
    }
  }
}

}  // namespace DEVICE::linear_gelu
