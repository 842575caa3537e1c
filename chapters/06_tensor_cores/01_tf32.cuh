/// \file
/// Stage 1 with float32 in memory. The tensor cores multiply TF32, a float32 of which only the first 10 of
/// the 23 bits after the point are kept; elements are rounded before they are stored in the tile. The bytes
/// are those of float32, and products take twice as long as those of bfloat16.
#pragma once
#include "01_wmma.cuh"

namespace DEVICE::tensor_cores {

constexpr int kTf32Depth = 8;  // elements of a fragment along k

/// 144 bytes: eight successive rows of a fragment are in different banks.
using Tf32Row = float[WmmaTile::BK + 4];

/// As copy_tensor_tile(), rounded to TF32.
__device__ inline void copy_tf32_tile(Tf32Row* tile, const float* __restrict__ matrix, int first_row,
                                      int first, int rows, int k) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  constexpr int kFours = WmmaTile::BK / 4;
  const bool aligned = starts_vectors(matrix, k);
#pragma unroll
  for (int j = threadIdx.x; j < WmmaTile::BM * kFours; j += WmmaTile::kThreads) {
    const int row = j / kFours, i = j % kFours * 4;
    const float* from = matrix + static_cast<size_t>(first_row + row) * k + first + i;
    const float4 v = first_row + row < rows ? load_four(from, k - first - i, aligned) : float4{};
    *reinterpret_cast<float4*>(&tile[row][i]) =
        make_float4(nvcuda::wmma::__float_to_tf32(v.x), nvcuda::wmma::__float_to_tf32(v.y),
                    nvcuda::wmma::__float_to_tf32(v.z), nvcuda::wmma::__float_to_tf32(v.w));
  }
#endif
}

/// y = epilogue(x * w^T) in float32, with x and w rounded to TF32; blocks, warps and accumulators as in
/// linear_by_wmma(). Traffic: twice that of linear_by_wmma() for x, w and y, half of it for the bias.
template <class Epilogue>
__global__ void __launch_bounds__(WmmaTile::kThreads)
    linear_by_tf32(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int m,
                   int k, int n, Epilogue epilogue) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  namespace wmma = nvcuda::wmma;
  using Tf32 = wmma::precision::tf32;
  constexpr int BM = WmmaTile::BM, BN = WmmaTile::BN, BK = WmmaTile::BK, WM = WmmaTile::WM, WN = WmmaTile::WN;
  constexpr int kFragment = WmmaTile::kFragment, kDown = WM / kFragment, kAlong = WN / kFragment;
  constexpr int kWarpsAcross = BN / WN, kWarps = WmmaTile::kThreads / 32, kPitch = BK + 4;
  alignas(32) __shared__ Tf32Row tile_x[BM], tile_w[BN];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int in_row = warp / kWarpsAcross * WM, in_column = warp % kWarpsAcross * WN;
  const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;

  wmma::fragment<wmma::accumulator, 16, 16, 8, float> acc[kDown][kAlong];
#pragma unroll
  for (int r = 0; r < kDown; ++r)
#pragma unroll
    for (int c = 0; c < kAlong; ++c) wmma::fill_fragment(acc[r][c], 0.0f);
  for (int first = 0; first < k; first += BK) {
    copy_tf32_tile(tile_x, x, first_row, first, m, k);
    copy_tf32_tile(tile_w, w, first_column, first, n, k);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BK; i += kTf32Depth) {
      wmma::fragment<wmma::matrix_a, 16, 16, 8, Tf32, wmma::row_major> of_x[kDown];
      wmma::fragment<wmma::matrix_b, 16, 16, 8, Tf32, wmma::col_major> of_w[kAlong];
#pragma unroll
      for (int r = 0; r < kDown; ++r)
        wmma::load_matrix_sync(of_x[r], &tile_x[in_row + r * kFragment][i], kPitch);
#pragma unroll
      for (int c = 0; c < kAlong; ++c)
        wmma::load_matrix_sync(of_w[c], &tile_w[in_column + c * kFragment][i], kPitch);
#pragma unroll
      for (int r = 0; r < kDown; ++r)
#pragma unroll
        for (int c = 0; c < kAlong; ++c) wmma::mma_sync(acc[r][c], of_x[r], of_w[c], acc[r][c]);
    }
    __syncthreads();
  }

  // As in linear_by_wmma(), but a lane takes a quarter of a row, in two rows of the fragment.
  alignas(32) __shared__ float staging[kWarps][kFragment][kFragment + 4];
  const bool aligned = starts_vectors(y, n);
  const int lane_row = lane / 4, lane_column = lane % 4 * 4;
#pragma unroll
  for (int c = 0; c < kAlong; ++c) {
    const int column = first_column + in_column + c * kFragment + lane_column;
    float of_column[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) of_column[j] = column + j < n ? epilogue.of_column(column + j) : 0.0f;
#pragma unroll
    for (int r = 0; r < kDown; ++r) {
      wmma::store_matrix_sync(&staging[warp][0][0], acc[r][c], kFragment + 4, wmma::mem_row_major);
      __syncwarp();
#pragma unroll
      for (int in_fragment = lane_row; in_fragment < kFragment; in_fragment += 8) {
        const int row = first_row + in_row + r * kFragment + in_fragment;
        const float4 mine = *reinterpret_cast<const float4*>(&staging[warp][in_fragment][lane_column]);
        const float results[] = {epilogue(mine.x, of_column[0]), epilogue(mine.y, of_column[1]),
                                 epilogue(mine.z, of_column[2]), epilogue(mine.w, of_column[3])};
        if (row < m) store_four(y + static_cast<size_t>(row) * n + column, results, n - column, aligned);
      }
      __syncwarp();  // before the next fragment overwrites this one
    }
  }
#endif
}

// --- On the host ---

struct Tf32 {
  static constexpr Stage row =
      kOnTensorCores.with({.name = "01_tf32",
                           .idea = "float32 in memory, TF32 in the tensor cores",
                           .output = {&kYTf32},
                           .needs = "compute capability 8.0; at most 2^38 multiplications"});
  static void run(const Data& data) {
    const Factors a = factors(data);
    launch(linear_by_tf32<BiasGelu>, by_tiles(a, WmmaTile::BM, WmmaTile::BN), WmmaTile::kThreads, data[kX],
           data[kW], data[kYTf32], a.m, a.k, a.n, BiasGelu{data[kBias]});
  }
  /// A lane loads its four biases one by one, so a warp loads each sector four times.
  static Traffic traffic(const Shape& s) {
    return tiled(s, WmmaTile::BM, WmmaTile::BN, 4) +
           bias_traffic(s, WmmaTile::BM, 4 * (WmmaTile::BM / WmmaTile::WM));
  }
  static bool suits(const Shape& s) { return product_flops(s) <= 2 * ldexp(1.0, 38); }
};

}  // namespace DEVICE::tensor_cores
