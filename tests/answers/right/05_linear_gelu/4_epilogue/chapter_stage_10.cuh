// stage 10 of the chapter: tiles of 128 x 128, the epilogue is a parameter
#pragma once
#include "ceil_div.hpp"
#include "device.hpp"
#include "epilogues.hpp"
#include "row_vectors.hpp"

namespace DEVICE::linear_epilogue {

constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
constexpr int kThreadsAcross = BN / TN, kThreads = BM / TM * kThreadsAcross;
constexpr int WM = 64, WN = 32;

using TileRow = float[BM + 4];

__device__ inline void store_transposed(TileRow* tile, int row, int i, float4 v) {
  tile[i][row] = v.x;
  tile[i + 1][row] = v.y;
  tile[i + 2][row] = v.z;
  tile[i + 3][row] = v.w;
}

__device__ inline int row_of_lane(int lane) { return (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4); }
__device__ inline int column_of_lane(int lane) { return (lane >> 1 & 1) | (lane >> 2 & 2); }

template <class Epilogue>
__global__ void __launch_bounds__(kThreads, 2)
    linear_by_warp_tiles(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                         int m, int k, int n, Epilogue epilogue) {
  constexpr int kWarpsAcross = BN / WN;
  alignas(16) __shared__ TileRow tiles[4][BK];
  auto *tile_x = tiles, *tile_w = tiles + 2;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int in_row = warp / kWarpsAcross * WM + row_of_lane(lane) * 4;
  const int in_column = warp % kWarpsAcross * WN + column_of_lane(lane) * 4;
  const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;

  const int load_row = threadIdx.x / 2, load_i = threadIdx.x % 2 * 4;
  const float* my_x = x + static_cast<size_t>(first_row + load_row) * k + load_i;
  const float* my_w = w + static_cast<size_t>(first_column + load_row) * k + load_i;
  const bool has_x = first_row + load_row < m, has_w = first_column + load_row < n;
  const bool vectors = starts_vectors(x, k) && starts_vectors(w, k);
  float4 next_x = {}, next_w = {};
  const auto fetch = [&](int first) {
    next_x = has_x ? load_four(my_x + first, k - first - load_i, vectors) : float4{};
    next_w = has_w ? load_four(my_w + first, k - first - load_i, vectors) : float4{};
  };
  const auto store_tiles = [&](int buffer) {
    store_transposed(tile_x[buffer], load_row, load_i, next_x);
    store_transposed(tile_w[buffer], load_row, load_i, next_w);
  };

  fetch(0);
  store_tiles(0);
  __syncthreads();
  float acc[TM][TN] = {};
  for (int first = 0, buffer = 0; first < k; first += BK, buffer ^= 1) {
    fetch(first + BK);
#pragma unroll
    for (int i = 0; i < BK; ++i) {
      float of_x[TM], of_w[TN];
      load_two_fours(of_x, &tile_x[buffer][i][in_row], WM / 2);
      load_two_fours(of_w, &tile_w[buffer][i][in_column], WN / 2);
#pragma unroll
      for (int r = 0; r < TM; ++r)
#pragma unroll
        for (int c = 0; c < TN; ++c) acc[r][c] += of_x[r] * of_w[c];
    }
    store_tiles(buffer ^ 1);
    __syncthreads();
  }

  const bool aligned = starts_vectors(y, n);
#pragma unroll
  for (int c = 0; c < TN; c += 4) {
    const int column = first_column + in_column + c / 4 * WN / 2;
    float of_column[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) of_column[j] = column + j < n ? epilogue.of_column(column + j) : 0.0f;
#pragma unroll
    for (int r = 0; r < TM; ++r) {
      const int row = first_row + in_row + r / 4 * WM / 2 + r % 4;
      float results[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) results[j] = epilogue(acc[r][c + j], of_column[j]);
      if (row < m) store_four(y + static_cast<size_t>(row) * n + column, results, n - column, aligned);
    }
  }
}

inline void linear(const float* x, const float* w, const float* bias, float* y, int m, int k, int n) {
  const dim3 grid(static_cast<unsigned>(ceil_div(n, BN)), static_cast<unsigned>(ceil_div(m, BM)));
  launch(linear_by_warp_tiles<BiasGelu>, grid, kThreads, x, w, y, m, k, n, BiasGelu{bias});
}

}  // namespace DEVICE::linear_epilogue
