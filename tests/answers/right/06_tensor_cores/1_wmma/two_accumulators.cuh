// two accumulators, added element by element; helper names of a specification
#pragma once
#include "device.hpp"
#include "halves.hpp"

namespace DEVICE::linear_wmma {

constexpr int kShapes = 16, kArrays = 4;

template <class Sum>
__device__ inline void blocks(Sum& sum, const __nv_bfloat16* rows, const __nv_bfloat16* columns, int k,
                              int i) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  namespace wmma = nvcuda::wmma;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> of_x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> of_w;
  wmma::load_matrix_sync(of_x, rows + i, k);
  wmma::load_matrix_sync(of_w, columns + i, k);
  wmma::mma_sync(sum, of_x, of_w, sum);
#endif
}

__global__ void multiply(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  namespace wmma = nvcuda::wmma;
  const int row = blockIdx.y * kShapes, column = (blockIdx.x * kArrays + threadIdx.x / 32) * kShapes;
  if (column >= n) return;
  const __nv_bfloat16 *run = x + static_cast<size_t>(row) * k, *limits = w + static_cast<size_t>(column) * k;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> even, odd;
  wmma::fill_fragment(even, 0.0f);
  wmma::fill_fragment(odd, 0.0f);
  int i = 0;
  for (; i + 2 * kShapes <= k; i += 2 * kShapes) {
    blocks(even, run, limits, k, i);
    blocks(odd, run, limits, k, i + kShapes);
  }
  if (i < k) blocks(even, run, limits, k, i);
  for (int e = 0; e < even.num_elements; ++e) even.x[e] += odd.x[e];
  wmma::store_matrix_sync(product + static_cast<size_t>(row) * n + column, even, n, wmma::mem_row_major);
#endif
}

}  // namespace DEVICE::linear_wmma
