/// \file
/// Exercise 06.2, epilogue_bf16: bias and GELU after the tensor cores, and one rounding.
///
/// linear() runs two kernels: the product goes to memory in float32, and a second one adds the bias, applies
/// GELU and rounds to bfloat16. Let the first kernel do all of it. The mapping of a fragment's elements to
/// lanes is not documented: let the warp store its sums in `sums`, where every lane can read any element.
///
/// Goal: one launch; the product never goes to memory, so 2 bytes are written for each element, in whole
/// sectors; no more bytes read than one fragment of x and one of w per step for each 16 x 16 elements, and a
/// word of the bias per element. The work is spread over the grid.
#pragma once
#include "device.hpp"
#include "halves.hpp"

namespace DEVICE::linear_epilogue_bf16 {

constexpr int kFragment = 16, kWarps = 4;

__device__ inline float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }

/// y = gelu(x * w^T + bias): x is m x k, w is n x k, y is m x n, in bfloat16; bias has n floats; m, k and n
/// are multiples of 32. A warp per 16 x 32 elements, two fragments side by side; blocks of kWarps warps along
/// n; blockIdx.y counts along m.
__global__ void multiply(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                         const float* __restrict__ bias, [[maybe_unused]] float* __restrict__ product,
                         __nv_bfloat16* __restrict__ y, int k, int n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  namespace wmma = nvcuda::wmma;
  alignas(32) __shared__ float sums[kWarps][kFragment][kFragment + 4];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.y * kFragment, column = (blockIdx.x * kWarps + warp) * 2 * kFragment;
  if (column >= n) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> of_x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> of_w;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2];
  for (int half = 0; half < 2; ++half) wmma::fill_fragment(sum[half], 0.0f);
  for (int i = 0; i < k; i += kFragment) {
    wmma::load_matrix_sync(of_x, x + static_cast<size_t>(row) * k + i, k);
    for (int half = 0; half < 2; ++half) {
      wmma::load_matrix_sync(of_w, w + static_cast<size_t>(column + half * kFragment) * k + i, k);
      wmma::mma_sync(sum[half], of_x, of_w, sum[half]);
    }
  }
  // BEGIN SOLUTION
  for (int half = 0; half < 2; ++half) {
    wmma::store_matrix_sync(&sums[warp][0][0], sum[half], kFragment + 4, wmma::mem_row_major);
    __syncwarp();
    const int c = lane % kFragment, to_column = column + half * kFragment + c;
    for (int r = lane / kFragment; r < kFragment; r += 2)
      y[static_cast<size_t>(row + r) * n + to_column] =
          from_float<__nv_bfloat16>(gelu(sums[warp][r][c] + bias[to_column]));
    __syncwarp();
  }
  // SKELETON
  // // TODO: by way of sums, with bias and GELU, to y.
  // for (int half = 0; half < 2; ++half)
  //   wmma::store_matrix_sync(product + static_cast<size_t>(row) * n + column + half * kFragment, sum[half], n,
  //                           wmma::mem_row_major);
  // END SOLUTION
#endif
}

/// y = gelu(product + bias), one thread per element.
__global__ void add_bias_and_gelu(const float* __restrict__ product, const float* __restrict__ bias,
                                  __nv_bfloat16* __restrict__ y, int m, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m * n) y[i] = from_float<__nv_bfloat16>(gelu(product[i] + bias[i % n]));
}

inline void linear(const __nv_bfloat16* x, const __nv_bfloat16* w, const float* bias, float* product,
                   __nv_bfloat16* y, int m, int k, int n) {
  const dim3 grid(static_cast<unsigned>((n - 1) / (2 * kFragment * kWarps) + 1),
                  static_cast<unsigned>((m - 1) / kFragment + 1));
  launch(multiply, grid, kWarps * 32, x, w, bias, product, y, k, n);
  // BEGIN SOLUTION
  // SKELETON
  // // TODO: this is not needed any more.
  // launch(add_bias_and_gelu, (m * n - 1) / 256 + 1, 256, product, bias, y, m, n);
  // END SOLUTION
}

}  // namespace DEVICE::linear_epilogue_bf16
