/// \file
/// Stage 13: the tensor cores. A warp multiplies 16 x 16 x 16 elements in an instruction or two, bfloat16
/// in, float32 sums. The elements of such a fragment lie where the hardware wants them; by way of shared
/// memory, a thread gets elements whose columns it knows, for bias and GELU.
#pragma once
#include "10_epilogue.cuh"
#include "halves.hpp"

namespace DEVICE::linear_gelu {

constexpr int kTensorDepth = 32, kFragment = 16;
constexpr int kTensorWarpRows = 64, kTensorWarpColumns = 32;

/// 80 bytes: eight rows at the same place of k, which are loaded together, lie in different banks.
using TensorRow = __nv_bfloat16[kTensorDepth + 8];

/// Eight elements in 16 bytes.
union Eight {
  uint4 bits;
  __nv_bfloat16 element[8];
  __device__ Eight() : bits() {}
};

/// The elements from `from`, of which the row has `left`, then zeros: in one load where `aligned`, which
/// wants `left` to be a multiple of 8 and `from` to be one of 16 bytes.
__device__ inline uint4 load_eight(const __nv_bfloat16* from, int left, bool aligned) {
  Eight eight;
  if (aligned) {
    if (left > 0) eight.bits = *reinterpret_cast<const uint4*>(from);
  } else {
#pragma unroll
    for (int j = 0; j < 8; ++j) eight.element[j] = j < left ? from[j] : from_float<__nv_bfloat16>(0.0f);
  }
  return eight.bits;
}

/// Writes the elements of `eight`, of which the row has `left`; `aligned` as in load_eight().
__device__ inline void store_eight(__nv_bfloat16* to, const Eight& eight, int left, bool aligned) {
  if (aligned) {
    if (left > 0) *reinterpret_cast<uint4*>(to) = eight.bits;
  } else {
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (j < left) to[j] = eight.element[j];
  }
}

__device__ inline bool starts_eights(const __nv_bfloat16* rows, int n) {
  return n % 8 == 0 && reinterpret_cast<size_t>(rows) % 16 == 0;
}

/// Copies a tile of kSide rows and kTensorDepth columns of a matrix of rows x k, with zeros where it has
/// none.
__device__ inline void copy_tensor_tile(TensorRow* tile, const __nv_bfloat16* __restrict__ matrix,
                                        int first_row, int first, int rows, int k) {
  constexpr int kEights = kTensorDepth / 8;
  const bool aligned = starts_eights(matrix, k);
#pragma unroll
  for (int j = threadIdx.x; j < kSide * kEights; j += kThreads) {
    const int row = j / kEights, i = j % kEights * 8;
    const __nv_bfloat16* from = matrix + static_cast<size_t>(first_row + row) * k + first + i;
    *reinterpret_cast<uint4*>(&tile[row][i]) =
        first_row + row < rows ? load_eight(from, k - first - i, aligned) : uint4{};
  }
}

/// y = epilogue(x * w^T), x, w and y in bfloat16, as in stage 1: any m, k and n. A block of kThreads threads
/// per tile of kSide x kSide, a warp per kTensorWarpRows x kTensorWarpColumns of it. Sums, bias and epilogue
/// are float32, and the result is rounded once. Traffic: 2mnk(1/kSide + 1/kSide) bytes read.
template <class Epilogue>
__global__ void __launch_bounds__(kThreads)
    linear_by_wmma(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                   __nv_bfloat16* __restrict__ y, int m, int k, int n, Epilogue epilogue) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  namespace wmma = nvcuda::wmma;
  constexpr int kDown = kTensorWarpRows / kFragment, kAlong = kTensorWarpColumns / kFragment;
  constexpr int kWarpsAcross = kSide / kTensorWarpColumns, kWarps = kThreads / 32;
  alignas(16) __shared__ TensorRow tile_x[kSide], tile_w[kSide];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int in_row = warp / kWarpsAcross * kTensorWarpRows,
            in_column = warp % kWarpsAcross * kTensorWarpColumns;
  const int first_row = blockIdx.y * kSide, first_column = blockIdx.x * kSide;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[kDown][kAlong];
#pragma unroll
  for (int r = 0; r < kDown; ++r)
#pragma unroll
    for (int c = 0; c < kAlong; ++c) wmma::fill_fragment(sum[r][c], 0.0f);
  for (int first = 0; first < k; first += kTensorDepth) {
    copy_tensor_tile(tile_x, x, first_row, first, m, k);
    copy_tensor_tile(tile_w, w, first_column, first, n, k);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTensorDepth; i += kFragment) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> of_x[kDown];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> of_w[kAlong];
#pragma unroll
      for (int r = 0; r < kDown; ++r)
        wmma::load_matrix_sync(of_x[r], &tile_x[in_row + r * kFragment][i], kTensorDepth + 8);
#pragma unroll
      for (int c = 0; c < kAlong; ++c)
        wmma::load_matrix_sync(of_w[c], &tile_w[in_column + c * kFragment][i], kTensorDepth + 8);
#pragma unroll
      for (int r = 0; r < kDown; ++r)
#pragma unroll
        for (int c = 0; c < kAlong; ++c) wmma::mma_sync(sum[r][c], of_x[r], of_w[c], sum[r][c]);
    }
    __syncthreads();
  }

  // Each warp has a place for one fragment of sums, and a lane half a row of it.
  alignas(16) __shared__ float sums[kWarps][kFragment][kFragment + 4];
  const bool aligned = starts_eights(y, n);
  const int lane_row = lane / 2, lane_column = lane % 2 * 8;
#pragma unroll
  for (int c = 0; c < kAlong; ++c) {
    const int column = first_column + in_column + c * kFragment + lane_column;
    float of_column[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) of_column[j] = column + j < n ? epilogue.of_column(column + j) : 0.0f;
#pragma unroll
    for (int r = 0; r < kDown; ++r) {
      wmma::store_matrix_sync(&sums[warp][0][0], sum[r][c], kFragment + 4, wmma::mem_row_major);
      __syncwarp();
      const int row = first_row + in_row + r * kFragment + lane_row;
      float mine[8];
      eight_of(mine, &sums[warp][lane_row][lane_column], 4);
      Eight results;
#pragma unroll
      for (int j = 0; j < 8; ++j)
        results.element[j] = from_float<__nv_bfloat16>(epilogue(mine[j], of_column[j]));
      if (row < m) store_eight(y + static_cast<size_t>(row) * n + column, results, n - column, aligned);
      __syncwarp();  // the place is used again
    }
  }
#endif
}

}  // namespace DEVICE::linear_gelu
