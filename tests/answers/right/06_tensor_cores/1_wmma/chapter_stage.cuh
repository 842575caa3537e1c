// stage 1 of the chapter, with a tile of 16 x 64 per block
#pragma once
#include "device.hpp"
#include "halves.hpp"
#include "row_vectors.hpp"

namespace DEVICE::linear_wmma {

struct WmmaTile {
  static constexpr int BM = 16, BN = 64, BK = 32, kFragment = 16, kThreads = 128;
};

using TensorRow = __nv_bfloat16[WmmaTile::BK + 8];

template <int kRows>
__device__ inline void copy_tensor_tile(TensorRow* tile, const __nv_bfloat16* __restrict__ matrix,
                                        int first_row, int first, int rows, int k) {
  constexpr int kEights = WmmaTile::BK / 8;
  const bool aligned = starts_vectors(matrix, k);
#pragma unroll
  for (int j = threadIdx.x; j < kRows * kEights; j += WmmaTile::kThreads) {
    const int row = j / kEights, i = j % kEights * 8;
    const __nv_bfloat16* from = matrix + static_cast<size_t>(first_row + row) * k + first + i;
    *reinterpret_cast<uint4*>(&tile[row][i]) =
        first_row + row < rows ? load_eight(from, k - first - i, aligned) : uint4{};
  }
}

__global__ void __launch_bounds__(WmmaTile::kThreads)
    multiply(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
             float* __restrict__ product, int k, int n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  namespace wmma = nvcuda::wmma;
  constexpr int BM = WmmaTile::BM, BN = WmmaTile::BN, BK = WmmaTile::BK, kFragment = WmmaTile::kFragment;
  alignas(32) __shared__ TensorRow tile_x[BM], tile_w[BN];
  const int in_column = threadIdx.x / 32 * kFragment;
  const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int first = 0; first < k; first += BK) {
    copy_tensor_tile<BM>(tile_x, x, first_row, first, first_row + BM, k);
    copy_tensor_tile<BN>(tile_w, w, first_column, first, n, k);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BK; i += kFragment) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> of_x;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> of_w;
      wmma::load_matrix_sync(of_x, &tile_x[0][i], BK + 8);
      wmma::load_matrix_sync(of_w, &tile_w[in_column][i], BK + 8);
      wmma::mma_sync(acc, of_x, of_w, acc);
    }
    __syncthreads();
  }
  const int column = first_column + in_column;
  if (column < n)
    wmma::store_matrix_sync(product + static_cast<size_t>(first_row) * n + column, acc, n,
                            wmma::mem_row_major);
#endif
}

}  // namespace DEVICE::linear_wmma
