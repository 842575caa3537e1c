/// \file
/// Stage 2: the instructions under wmma. mma.sync multiplies 16 x 8 x 16 elements, whose operands are in
/// registers as NVIDIA's PTX manual shows; ldmatrix loads them from shared memory, four 8x8 matrices at a
/// time. The tiles are in a pipeline of three stages, copied asynchronously. They are swizzled instead of
/// padded: the 16-byte chunk c of row r is at position c ^ r % 8, so that the same chunk of eight rows is in
/// different banks. Compute capability 8.0.
#pragma once
#include "problem.cuh"
#ifdef WORKBOOK_GPU
#include "mma.gpu.cuh"
#endif

namespace DEVICE::tensor_cores {

#ifdef WORKBOOK_GPU
/// A block of four warps computes BM x BN elements and goes along k in steps of BK; a warp computes WM x WN.
struct MmaTile {
  static constexpr int BM = 128, BN = 128, BK = 64, WM = 64, WN = 64;
  static constexpr int kThreads = BM / WM * (BN / WN) * 32;
  static constexpr int kRowBytes = BK * sizeof(__nv_bfloat16), kTileBytes = BM * kRowBytes;
  static constexpr int kStages = 3;  // of the pipeline: two are being filled while one is multiplied
  static constexpr int kSharedBytes = kStages * 2 * kTileBytes;
};

/// A warp's operands at one step of 16 along k.
struct Fragments {
  unsigned x[MmaTile::WM / 16][4], w[MmaTile::WN / 16][4];
};

/// product = x * w^T in bfloat16, matrices as in stage 1: any m; k and n multiples of 8; x and w start at
/// multiples of 16 bytes, product at one of 4. One block of MmaTile::kThreads threads per tile, with
/// kSharedBytes of dynamic shared memory. Rows past the end of a matrix are copies of its last row, and their
/// results are not stored. Traffic: reads 2mnk(1/BM + 1/BN) bytes.
__global__ void __launch_bounds__(MmaTile::kThreads, 2)
    product_by_mma(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                   __nv_bfloat16* __restrict__ product, int m, int k, int n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  constexpr int BM = MmaTile::BM, BN = MmaTile::BN, BK = MmaTile::BK, WM = MmaTile::WM, WN = MmaTile::WN;
  constexpr int kStages = MmaTile::kStages, kRowBytes = MmaTile::kRowBytes, kTileBytes = MmaTile::kTileBytes;
  const unsigned tiles_x = shared_address(dynamic_shared<__nv_bfloat16>());
  const unsigned tiles_w = tiles_x + kStages * kTileBytes;
  const Tile tile = tile_at(blockIdx.x, m, n, BM, BN);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int in_row = warp / 2 * WM, in_column = warp % 2 * WN;
  const int steps = ceil_div(k, BK);

  // Eight threads copy a row, and each thread copies every 16th row. Offsets of its sources, in units of 16
  // bytes:
  constexpr int kApart = MmaTile::kThreads / 8, kRows = BM / kApart;
  const int copy_row = threadIdx.x / 8, copy_i = threadIdx.x % 8;
  const unsigned copy_to = copy_row * kRowBytes + (copy_i ^ copy_row % 8) * 16;
  unsigned from_x[kRows], from_w[kRows];
#pragma unroll
  for (int j = 0; j < kRows; ++j) {
    from_x[j] = static_cast<unsigned>(min(tile.row + copy_row + j * kApart, m - 1)) * (k / 8) + copy_i;
    from_w[j] = static_cast<unsigned>(min(tile.column + copy_row + j * kApart, n - 1)) * (k / 8) + copy_i;
  }
  const auto fetch = [&](int step, int stage) {
    if (step < steps) {
      const int bytes = step * BK + copy_i * 8 < k ? 16 : 0;
      const uint4* of_x = reinterpret_cast<const uint4*>(x) + step * (BK / 8);
      const uint4* of_w = reinterpret_cast<const uint4*>(w) + step * (BK / 8);
      const unsigned to = copy_to + stage * kTileBytes;
#pragma unroll
      for (int j = 0; j < kRows; ++j)
        cp_async_16(tiles_x + to + j * kApart * kRowBytes, of_x + from_x[j], bytes);
#pragma unroll
      for (int j = 0; j < kRows; ++j)
        cp_async_16(tiles_w + to + j * kApart * kRowBytes, of_w + from_w[j], bytes);
    }
    cp_async_commit();
  };
  const auto wait_for_tile = [&] {  // all stages but the one that was started last are filled, by all threads
    cp_async_wait_group<kStages - 2>();
    __syncthreads();
  };

  // [addresses]
  // The four 8x8 matrices of an ldmatrix are, of x, rows 0 to 7 and 8 to 15, then the same rows at the next
  // 16 bytes; of w, both halves of rows 0 to 7, then both of rows 8 to 15. In that order, mma.sync takes them
  // as 16 rows of x and as twice 8 rows of w.
  const int row_x = in_row + lane % 16, half_x = lane / 16;
  const int row_w = in_column + lane / 16 * 8 + lane % 8, half_w = lane / 8 % 2;
  unsigned my_x[BK / 16], my_w[BK / 16];
#pragma unroll
  for (int i = 0; i < BK / 16; ++i) {
    my_x[i] = tiles_x + row_x * kRowBytes + ((2 * i + half_x) ^ row_x % 8) * 16;
    my_w[i] = tiles_w + row_w * kRowBytes + ((2 * i + half_w) ^ row_w % 8) * 16;
  }
  // [addresses]
  // [loop]
  Fragments fragments[2];
  const auto load = [&](Fragments& to, int stage, int i) {
#pragma unroll
    for (int r = 0; r < WM / 16; ++r) ldmatrix_x4(to.x[r], my_x[i] + stage * kTileBytes + r * 16 * kRowBytes);
#pragma unroll
    for (int c = 0; c < WN / 16; ++c) ldmatrix_x4(to.w[c], my_w[i] + stage * kTileBytes + c * 16 * kRowBytes);
  };

  for (int step = 0; step < kStages - 1; ++step) fetch(step, step);
  wait_for_tile();
  load(fragments[0], 0, 0);
  float acc[WM / 16][WN / 8][4] = {};
  int stage = 0, free_stage = kStages - 1;
  for (int step = 0; step < steps; ++step) {
    const int next = stage + 1 == kStages ? 0 : stage + 1;
    fetch(step + kStages - 1, free_stage);
#pragma unroll
    for (int i = 0; i < BK / 16; ++i) {
      if (i + 1 < BK / 16) {
        load(fragments[(i + 1) % 2], stage, i + 1);
      } else {
        wait_for_tile();
        load(fragments[(i + 1) % 2], next, 0);
      }
      const Fragments& of = fragments[i % 2];
#pragma unroll
      for (int r = 0; r < WM / 16; ++r)
#pragma unroll
        for (int j = 0; j < WN / 8; ++j) {
          const int c = r % 2 == 0 ? j : WN / 8 - 1 - j;  // along a row and back along the next
          mma_m16n8k16(acc[r][c], of.x[r], of.w[c / 2][c % 2 * 2], of.w[c / 2][c % 2 * 2 + 1]);
        }
    }
    free_stage = stage;
    stage = next;
  }
  // [loop]

#pragma unroll
  for (int r = 0; r < WM / 16; ++r)
#pragma unroll
    for (int c = 0; c < WN / 8; ++c)
      store_accumulator(acc[r][c], product, tile.row + in_row + r * 16, tile.column + in_column + c * 8, m,
                        n);
#endif
}

#endif

// --- On the host ---

struct Mma {
  static constexpr Stage row =
      kOnTensorCores.with({.name = "02_mma",
                           .idea = "the product alone: mma.sync, ldmatrix, a swizzled tile",
                           .output = {&kProduct},
                           .needs = "a GPU of compute capability 8.0; k and n multiples of 8"});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) {
    const Factors a = factors(data);
    launch_shared(product_by_mma, tile_count(a.m, a.n, MmaTile::BM, MmaTile::BN), MmaTile::kThreads,
                  MmaTile::kSharedBytes, a.x, a.w, data[kProduct], a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return tiled_bfloat16(s, MmaTile::BM, MmaTile::BN); }
  static bool suits(const Shape& s) { return of_eights(s); }
#endif
};

}  // namespace DEVICE::tensor_cores
