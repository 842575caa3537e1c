// the lanes pass addresses of their own | fragment of several matrices
#pragma once
#include "device.hpp"
#include "halves.hpp"

namespace DEVICE::linear_wmma {

__global__ void multiply(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  namespace wmma = nvcuda::wmma;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.y * 16, column = (blockIdx.x * 4 + warp) * 16;
  if (column >= n) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> of_x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> of_w;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(of_x, x + static_cast<size_t>(row + lane / 2 % 16) * k + i, k);
    wmma::load_matrix_sync(of_w, w + static_cast<size_t>(column) * k + i, k);
    wmma::mma_sync(sum, of_x, of_w, sum);
  }
  wmma::store_matrix_sync(product + static_cast<size_t>(row) * n + column, sum, n, wmma::mem_row_major);
}

}  // namespace DEVICE::linear_wmma
