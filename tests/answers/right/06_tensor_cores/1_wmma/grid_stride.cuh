// loops over all tiles that the grid leaves, and a lambda that multiplies
#pragma once
#include "device.hpp"
#include "halves.hpp"

namespace DEVICE::linear_wmma {

__global__ void multiply(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  namespace wmma = nvcuda::wmma;
  using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
  const auto multiply_rows = [k](const __nv_bfloat16* of_x, const __nv_bfloat16* of_w) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b;
    Sum sum;
    wmma::fill_fragment(sum, 0.0f);
#pragma unroll 4
    for (int i = 0; i < k; i += 16) {
      wmma::load_matrix_sync(a, of_x + i, k);
      wmma::load_matrix_sync(b, of_w + i, k);
      wmma::mma_sync(sum, a, b, sum);
    }
    return sum;
  };
  const int warps = gridDim.x * blockDim.x / 32;
  const size_t row = 16 * blockIdx.y;
  for (int tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32; tile < n / 16; tile += warps) {
    const size_t column = 16 * tile;
    const Sum sum = multiply_rows(x + row * k, w + column * k);
    wmma::store_matrix_sync(product + row * n + column, sum, n, wmma::mem_row_major);
  }
#endif
}

}  // namespace DEVICE::linear_wmma
