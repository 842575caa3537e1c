/// \file
/// Stage 1: the tensor cores. A warp multiplies 16 x 16 x 16 elements in one call: bfloat16
/// inputs, float32 accumulators. Which lane holds which element of such a fragment is up to the hardware.
/// Through shared memory, a thread gets elements whose columns it knows, so that it can add their bias.
#pragma once
#include "epilogues.hpp"
#include "problem.cuh"
#include "row_vectors.hpp"

namespace DEVICE::tensor_cores {

/// A block computes BM x BN elements and goes along k in steps of BK; each of its warps computes WM x WN
/// elements in fragments of kFragment x kFragment.
struct WmmaTile {
  static constexpr int BM = 128, BN = 128, BK = 32, WM = 64, WN = 32, kFragment = 16;
  static constexpr int kThreads = BM / WM * (BN / WN) * 32;
};

/// 80 bytes: the rows that are loaded together, eight at the same place along k, are in different banks.
using TensorRow = __nv_bfloat16[WmmaTile::BK + 8];

/// Copies a tile of WmmaTile::BM rows and BK columns of a matrix of rows x k. Elements outside the matrix
/// become zeros.
__device__ inline void copy_tensor_tile(TensorRow* tile, const __nv_bfloat16* __restrict__ matrix,
                                        int first_row, int first, int rows, int k) {
  constexpr int kEights = WmmaTile::BK / 8;
  const bool aligned = starts_vectors(matrix, k);
#pragma unroll
  for (int j = threadIdx.x; j < WmmaTile::BM * kEights; j += WmmaTile::kThreads) {
    const int row = j / kEights, i = j % kEights * 8;
    const __nv_bfloat16* from = matrix + static_cast<size_t>(first_row + row) * k + first + i;
    *reinterpret_cast<uint4*>(&tile[row][i]) =
        first_row + row < rows ? load_eight(from, k - first - i, aligned) : uint4{};
  }
}

/// y = epilogue(x * w^T) with x, w and y in bfloat16: x is m x k, w is n x k as PyTorch's Linear stores it, y
/// is m x n, all row-major; any m, k and n. One block of WmmaTile::kThreads threads per tile. Accumulators,
/// bias and epilogue are float32, and each result is rounded once. Traffic: reads 2mnk(1/BM + 1/BN) bytes.
template <class Epilogue>
__global__ void __launch_bounds__(WmmaTile::kThreads)
    linear_by_wmma(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                   __nv_bfloat16* __restrict__ y, int m, int k, int n, Epilogue epilogue) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  namespace wmma = nvcuda::wmma;
  constexpr int BM = WmmaTile::BM, BN = WmmaTile::BN, BK = WmmaTile::BK, WM = WmmaTile::WM, WN = WmmaTile::WN;
  constexpr int kFragment = WmmaTile::kFragment, kDown = WM / kFragment, kAlong = WN / kFragment;
  constexpr int kWarpsAcross = BN / WN, kWarps = WmmaTile::kThreads / 32;
  alignas(32) __shared__ TensorRow tile_x[BM], tile_w[BN];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int in_row = warp / kWarpsAcross * WM, in_column = warp % kWarpsAcross * WN;
  const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[kDown][kAlong];
#pragma unroll
  for (int r = 0; r < kDown; ++r)
#pragma unroll
    for (int c = 0; c < kAlong; ++c) wmma::fill_fragment(acc[r][c], 0.0f);
  // [multiply]
  for (int first = 0; first < k; first += BK) {
    copy_tensor_tile(tile_x, x, first_row, first, m, k);
    copy_tensor_tile(tile_w, w, first_column, first, n, k);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BK; i += kFragment) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> of_x[kDown];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> of_w[kAlong];
#pragma unroll
      for (int r = 0; r < kDown; ++r)
        wmma::load_matrix_sync(of_x[r], &tile_x[in_row + r * kFragment][i], BK + 8);
#pragma unroll
      for (int c = 0; c < kAlong; ++c)
        wmma::load_matrix_sync(of_w[c], &tile_w[in_column + c * kFragment][i], BK + 8);
#pragma unroll
      for (int r = 0; r < kDown; ++r)
#pragma unroll
        for (int c = 0; c < kAlong; ++c) wmma::mma_sync(acc[r][c], of_x[r], of_w[c], acc[r][c]);
    }
    __syncthreads();
  }
  // [multiply]

  // The epilogue: each warp stages one accumulator fragment at a time, and a lane takes half a row of it.
  alignas(32) __shared__ float staging[kWarps][kFragment][kFragment + 4];
  const bool aligned = starts_vectors(y, n);
  const int lane_row = lane / 2, lane_column = lane % 2 * 8;
#pragma unroll
  for (int c = 0; c < kAlong; ++c) {
    const int column = first_column + in_column + c * kFragment + lane_column;
    float of_column[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) of_column[j] = column + j < n ? epilogue.of_column(column + j) : 0.0f;
#pragma unroll
    for (int r = 0; r < kDown; ++r) {
      // [epilogue]
      wmma::store_matrix_sync(&staging[warp][0][0], acc[r][c], kFragment + 4, wmma::mem_row_major);
      __syncwarp();
      const int row = first_row + in_row + r * kFragment + lane_row;
      float mine[8];
      load_two_fours(mine, &staging[warp][lane_row][lane_column], 4);
      Pack<__nv_bfloat16> results;
#pragma unroll
      for (int j = 0; j < 8; ++j)
        results.element[j] = from_float<__nv_bfloat16>(epilogue(mine[j], of_column[j]));
      if (row < m) store_eight(y + static_cast<size_t>(row) * n + column, results, n - column, aligned);
      // [epilogue]
      __syncwarp();  // before the next fragment overwrites this one
    }
  }
#endif
}

// --- On the host ---

template <class Epilogue>
void launch_wmma(const Factors& a, __nv_bfloat16* y, Epilogue epilogue) {
  launch(linear_by_wmma<Epilogue>, by_tiles(a, WmmaTile::BM, WmmaTile::BN), WmmaTile::kThreads, a.x, a.w, y,
         a.m, a.k, a.n, epilogue);
}

/// Without the epilogue's bias.
inline Traffic wmma_product_traffic(const Shape& s) { return tiled_bfloat16(s, WmmaTile::BM, WmmaTile::BN); }

struct Wmma {
  static constexpr Stage row = kOnTensorCores.with(
      {.name = "01_wmma", .idea = "tensor cores: bfloat16, float32 accumulators, bias and GELU"});
  static void run(const Data& data) { launch_wmma(factors(data), data[kY], BiasGelu{data[kBias]}); }
  /// A lane loads its eight biases one by one, so a warp loads each sector eight times.
  static Traffic traffic(const Shape& s) {
    return wmma_product_traffic(s) + bias_traffic(s, WmmaTile::BM, 8 * (WmmaTile::BM / WmmaTile::WM));
  }
};

/// The same with the tanh form of GELU.
struct WmmaTanh : Wmma {
  static constexpr Stage row = kOnTensorCores.with({.name = "01_tanh",
                                                    .idea = "the same with the tanh form of GELU",
                                                    .output = {&kYTanh},
                                                    .against = "01_tanh"});
  static void run(const Data& data) { launch_wmma(factors(data), data[kYTanh], BiasGeluTanh{data[kBias]}); }
};

}  // namespace DEVICE::tensor_cores
