// the last element of k is left out | is 
#pragma once
#include "device.hpp"
#include "halves.hpp"

namespace DEVICE::linear_wmma {

__global__ void multiply(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  namespace wmma = nvcuda::wmma;
  __shared__ __align__(32) __nv_bfloat16 tile[16][24];
  const int row = blockIdx.y * 16, column = (blockIdx.x * 4 + threadIdx.x / 32) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> of_x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> of_w;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += 16) {
    for (int j = threadIdx.x; j < 256; j += 128)
      tile[j / 16][j % 16] = i + j % 16 < k - 1 ? x[static_cast<size_t>(row + j / 16) * k + i + j % 16]
                                                : __float2bfloat16(0.0f);
    __syncthreads();
    if (column < n) {
      wmma::load_matrix_sync(of_x, &tile[0][0], 24);
      wmma::load_matrix_sync(of_w, w + static_cast<size_t>(column) * k + i, k);
      wmma::mma_sync(sum, of_x, of_w, sum);
    }
    __syncthreads();
  }
  if (column < n)
    wmma::store_matrix_sync(product + static_cast<size_t>(row) * n + column, sum, n, wmma::mem_row_major);
}

}  // namespace DEVICE::linear_wmma
