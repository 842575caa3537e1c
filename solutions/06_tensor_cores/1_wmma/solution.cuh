/// \file
/// Exercise 06.1, wmma: a product on the tensor cores.
///
/// Each warp computes 16 x 16 elements of the product without tensor cores: every lane loads its factors,
/// element by element. Let the warp do it with fragments (nvcuda::wmma): fill the accumulator with zeros,
/// load 16 x 16 elements of x and of w for each step of k, multiply, and store the accumulator at the end.
///
/// Goal: no more bytes read than load_matrix_sync() reads for each 16 x 16 elements: 1024 of x and 1024 of w
/// for each step of 16 along k. The product is written once, and the work is spread over the grid.
#pragma once
#include "device.hpp"
#include "halves.hpp"

namespace DEVICE::linear_wmma {

constexpr int kFragment = 16, kWarps = 4;

/// product = x * w^T in float32: x is m x k, w is n x k, both bfloat16, product is m x n, all row by row; m,
/// k and n are multiples of 16. It is launched in blocks of four warps side by side along n, one
/// warp for each 16 x 16 elements; blockIdx.y counts along m.
__global__ void multiply(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const int warp = threadIdx.x / 32;
  const int row = blockIdx.y * kFragment, column = (blockIdx.x * kWarps + warp) * kFragment;
  if (column >= n) return;
  // BEGIN SOLUTION
  namespace wmma = nvcuda::wmma;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> of_x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> of_w;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += kFragment) {
    wmma::load_matrix_sync(of_x, x + static_cast<size_t>(row) * k + i, k);
    wmma::load_matrix_sync(of_w, w + static_cast<size_t>(column) * k + i, k);
    wmma::mma_sync(sum, of_x, of_w, sum);
  }
  wmma::store_matrix_sync(product + static_cast<size_t>(row) * n + column, sum, n, wmma::mem_row_major);
  // SKELETON
  // // TODO: fragments in place of elements.
  // const int lane = threadIdx.x % 32;
  // for (int e = lane; e < kFragment * kFragment; e += 32) {
  //   const int r = row + e / kFragment, c = column + e % kFragment;
  //   float sum = 0.0f;
  //   for (int i = 0; i < k; ++i)
  //     sum += to_float(x[static_cast<size_t>(r) * k + i]) * to_float(w[static_cast<size_t>(c) * k + i]);
  //   product[static_cast<size_t>(r) * n + c] = sum;
  // }
  // END SOLUTION
#endif
}

}  // namespace DEVICE::linear_wmma
