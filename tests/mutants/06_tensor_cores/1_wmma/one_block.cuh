// the first block loops over all rows and columns | percent of all loads and stores in one block
#pragma once
#include "device.hpp"
#include "halves.hpp"

namespace DEVICE::linear_wmma {

__global__ void multiply(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  namespace wmma = nvcuda::wmma;
  if (blockIdx.x > 0 || blockIdx.y > 0) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> of_x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> of_w;
  for (int row = 0; row < 16 * gridDim.y; row += 16)
    for (int column = threadIdx.x / 32 * 16; column < n; column += 64) {
      wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
      wmma::fill_fragment(sum, 0.0f);
      for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(of_x, x + static_cast<size_t>(row) * k + i, k);
        wmma::load_matrix_sync(of_w, w + static_cast<size_t>(column) * k + i, k);
        wmma::mma_sync(sum, of_x, of_w, sum);
      }
      wmma::store_matrix_sync(product + static_cast<size_t>(row) * n + column, sum, n, wmma::mem_row_major);
    }
}

}  // namespace DEVICE::linear_wmma
