/// \file
/// Stage 13 with float32 in memory. The tensor cores multiply TF32: of each element the sign, the exponent
/// and the first 10 of 23 bits after the point, rounded on the way into the tile. As many bytes as float32
/// has, and products half as fast as bfloat16's.
#pragma once
#include "13_wmma.cuh"

namespace DEVICE::linear_gelu {

constexpr int kTf32Along = 8;  // of k in a fragment

/// 144 bytes: the rows of a fragment lie in different banks.
using Tf32Row = float[kTensorDepth + 4];

/// As copy_tensor_tile(), rounded to TF32.
__device__ inline void copy_tf32_tile(Tf32Row* tile, const float* __restrict__ matrix, int first_row,
                                      int first, int rows, int k) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  constexpr int kFours = kTensorDepth / 4;
  const bool aligned = starts_vectors(matrix, k);
#pragma unroll
  for (int j = threadIdx.x; j < kSide * kFours; j += kThreads) {
    const int row = j / kFours, i = j % kFours * 4;
    const float* from = matrix + static_cast<size_t>(first_row + row) * k + first + i;
    const float4 v = first_row + row < rows ? load_four(from, k - first - i, aligned) : float4{};
    *reinterpret_cast<float4*>(&tile[row][i]) =
        make_float4(nvcuda::wmma::__float_to_tf32(v.x), nvcuda::wmma::__float_to_tf32(v.y),
                    nvcuda::wmma::__float_to_tf32(v.z), nvcuda::wmma::__float_to_tf32(v.w));
  }
#endif
}

/// y = epilogue(x * w^T) in float32, x and w rounded to TF32; blocks, warps and sums as in linear_by_wmma().
/// Traffic: that of stage 10.
template <class Epilogue>
__global__ void __launch_bounds__(kThreads)
    linear_by_tf32(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int m,
                   int k, int n, Epilogue epilogue) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  namespace wmma = nvcuda::wmma;
  using Tf32 = wmma::precision::tf32;
  constexpr int kDown = kTensorWarpRows / kFragment, kAlong = kTensorWarpColumns / kFragment;
  constexpr int kWarpsAcross = kSide / kTensorWarpColumns, kWarps = kThreads / 32, kPitch = kTensorDepth + 4;
  alignas(16) __shared__ Tf32Row tile_x[kSide], tile_w[kSide];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int in_row = warp / kWarpsAcross * kTensorWarpRows,
            in_column = warp % kWarpsAcross * kTensorWarpColumns;
  const int first_row = blockIdx.y * kSide, first_column = blockIdx.x * kSide;

  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum[kDown][kAlong];
#pragma unroll
  for (int r = 0; r < kDown; ++r)
#pragma unroll
    for (int c = 0; c < kAlong; ++c) wmma::fill_fragment(sum[r][c], 0.0f);
  for (int first = 0; first < k; first += kTensorDepth) {
    copy_tf32_tile(tile_x, x, first_row, first, m, k);
    copy_tf32_tile(tile_w, w, first_column, first, n, k);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTensorDepth; i += kTf32Along) {
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
        for (int c = 0; c < kAlong; ++c) wmma::mma_sync(sum[r][c], of_x[r], of_w[c], sum[r][c]);
    }
    __syncthreads();
  }

  // As in linear_by_wmma(), but a lane has a quarter of a row, and of the fragment's rows two.
  alignas(16) __shared__ float sums[kWarps][kFragment][kFragment + 4];
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
      wmma::store_matrix_sync(&sums[warp][0][0], sum[r][c], kFragment + 4, wmma::mem_row_major);
      __syncwarp();
#pragma unroll
      for (int in_fragment = lane_row; in_fragment < kFragment; in_fragment += 8) {
        const int row = first_row + in_row + r * kFragment + in_fragment;
        const float4 mine = *reinterpret_cast<const float4*>(&sums[warp][in_fragment][lane_column]);
        const float results[] = {epilogue(mine.x, of_column[0]), epilogue(mine.y, of_column[1]),
                                 epilogue(mine.z, of_column[2]), epilogue(mine.w, of_column[3])};
        if (row < m) store_four(y + static_cast<size_t>(row) * n + column, results, n - column, aligned);
      }
      __syncwarp();  // the place is used again
    }
  }
#endif
}

}  // namespace DEVICE::linear_gelu
