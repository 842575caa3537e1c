/// \file
/// Stage 4: tiles in shared memory. A block computes a tile of kTile x kTile elements and uses all that it
/// reads kTile times. Device memory is read 1/kTile times as often.
#pragma once
#include "problem.cuh"

namespace DEVICE::linear_gelu {

constexpr int kTile = 32;

/// product = x * w^T, matrices as in stage 1: any m, k and n. A block of kTile x kTile threads per tile of
/// the result; blockIdx.x is the tile's column. The rows of tile_w are padded by one word: the lanes read it
/// down a column, and without the padding all of them would access the same bank. Reads 4mnk(1/kTile +
/// 1/kTile) bytes.
__global__ void product_by_tiles(const float* __restrict__ x, const float* __restrict__ w,
                                 float* __restrict__ product, int m, int k, int n) {
  // [loop]
  __shared__ float tile_x[kTile][kTile], tile_w[kTile][kTile + 1];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int row = blockIdx.y * kTile + warp, column = blockIdx.x * kTile + lane;
  const int w_row = blockIdx.x * kTile + warp;
  float sum = 0.0f;
  for (int first = 0; first < k; first += kTile) {
    const int i = first + lane;
    tile_x[warp][lane] = row < m && i < k ? x[static_cast<size_t>(row) * k + i] : 0.0f;
    tile_w[warp][lane] = w_row < n && i < k ? w[static_cast<size_t>(w_row) * k + i] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kTile; ++j) sum += tile_x[warp][j] * tile_w[lane][j];
    __syncthreads();
  }
  // [loop]
  if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum;
}

// --- On the host ---

struct Tiles {
  static constexpr Stage row = kComputesProduct.with(
      {.name = "04_tiles", .idea = "the product alone: tiles of 32 x 32 in shared memory"});
  static void run(const Data& data) {
    const Factors a = factors(data);
    launch(product_by_tiles, by_tiles(a, kTile, kTile), dim3(kTile, kTile), a.x, a.w, data[kProduct], a.m,
           a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return tiled(s, kTile, kTile); }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
};

}  // namespace DEVICE::linear_gelu
