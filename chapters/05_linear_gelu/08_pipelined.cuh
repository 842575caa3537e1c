/// \file
/// Stage 8: the next tile is copied while this one is multiplied. An asynchronous copy of 4 bytes writes an
/// element to its position in the transposed tile without using a register.
#pragma once
#include "07_vectorised.cuh"

namespace DEVICE::linear_gelu {

/// Copies tiles of BM rows, starting at `first_row`, of a matrix of rows x k, with a block of kThreads
/// threads. Each copy of a warp reads one sector of each of four rows. `Whole` promises that every tile is
/// inside the matrix; without it, elements past an edge become zeros.
template <bool Whole>
struct TileSource {
  const float* mine;  // this thread's first element
  int rows, k;        // what is left of the matrix below that element, and its columns
  __device__ TileSource(const float* matrix, int first_row, int all_rows, int all_k) {
    const int row = first_row + threadIdx.x / BK, i = threadIdx.x % BK;
    mine = matrix + static_cast<size_t>(row) * all_k + i;
    rows = all_rows - row;
    k = all_k;
  }

  // [copy]
  /// Starts to copy BK columns, those from `first` on, into the transposed tile.
  __device__ void copy(TileRow* tile, int first) const {
    const int in_row = threadIdx.x / BK, i = threadIdx.x % BK;
#pragma unroll
    for (int j = 0; j < BM; j += kThreads / BK) {
      const bool inside = Whole || (j < rows && first + i < k);
      __pipeline_memcpy_async(&tile[i][in_row + j], mine + static_cast<size_t>(j) * k + first, sizeof(float),
                              inside ? 0 : sizeof(float));
    }
  }
  // [copy]
};

/// product = x * w^T, matrices as in stage 1: any m, k and n. `Whole` promises that m, n and k are multiples
/// of BM, BN and BK, and that product starts at a multiple of 16 bytes. Tiles, threads and traffic of
/// stage 7.
template <bool Whole>
__global__ void __launch_bounds__(kThreads, 2)
    product_pipelined(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ product,
                      int m, int k, int n) {
  alignas(16) __shared__ TileRow tile_x[2][BK], tile_w[2][BK];
  const int in_row = threadIdx.x / kThreadsAcross * TM, in_column = threadIdx.x % kThreadsAcross * 4;
  const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
  const TileSource<Whole> of_x_rows(x, first_row, m, k), of_w_rows(w, first_column, n, k);
  // [copy_tiles]
  const auto copy_tiles = [&](int buffer, int first) {
    if (first < k) {
      of_x_rows.copy(tile_x[buffer], first);
      of_w_rows.copy(tile_w[buffer], first);
    }
    __pipeline_commit();  // the copies so far are one batch, which the loop waits for
  };
  // [copy_tiles]
  copy_tiles(0, 0);
  float acc[TM][TN] = {};
  // [loop]
  for (int first = 0, buffer = 0; first < k; first += BK, buffer ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();  // this tile is complete, and no thread reads the other one any more
    copy_tiles(buffer ^ 1, first + BK);
#pragma unroll
    for (int i = 0; i < BK; ++i) {
      float of_x[TM], of_w[TN];
      load_two_fours(of_x, &tile_x[buffer][i][in_row], 4);
      load_two_fours(of_w, &tile_w[buffer][i][in_column], BN / 2);
      add_products(acc, of_x, of_w);
    }
  }
  // [loop]
  const bool aligned = Whole || starts_vectors(product, n);
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    const int row = first_row + in_row + r;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = first_column + half * BN / 2 + in_column;
      if (Whole || row < m)
        store_four(product + static_cast<size_t>(row) * n + column, &acc[r][half * 4], n - column, aligned);
    }
  }
}

// --- On the host ---

/// Whether no tile is partial, two of them along k included, and every row starts at a multiple of 16 bytes.
inline bool has_whole_tiles(const Factors& a, const float* result) {
  return a.m % BM == 0 && a.n % BN == 0 && a.k % (2 * BK) == 0 && has_aligned_rows(a) && are_aligned(result);
}

struct Pipelined {
  static constexpr Stage row = kComputesProduct.with(
      {.name = "08_pipelined", .idea = "the next tile is copied while this one is multiplied"});
  static void run(const Data& data) {
    const Factors a = factors(data);
    launch(has_whole_tiles(a, data[kProduct]) ? product_pipelined<true> : product_pipelined<false>,
           by_tiles(a, BM, BN), kThreads, a.x, a.w, data[kProduct], a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return tile_traffic(s); }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
};

}  // namespace DEVICE::linear_gelu
