// the four warps share the tile of x in shared memory
#pragma once
#include "device.hpp"
#include "halves.hpp"

namespace DEVICE::linear_wmma {

constexpr int kStep = 32, kPitch = kStep + 8;

__global__ void multiply(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  namespace wmma = nvcuda::wmma;
  __shared__ __align__(32) __nv_bfloat16 tile[16][kPitch];
  const int warp = threadIdx.x / 32, row = blockIdx.y * 16, column = (blockIdx.x * 4 + warp) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> of_x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> of_w;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int first = 0; first < k; first += kStep) {
    for (int j = threadIdx.x; j < 16 * kStep; j += blockDim.x) {
      const int r = j / kStep, i = first + j % kStep;
      tile[r][j % kStep] = i < k ? x[static_cast<size_t>(row + r) * k + i] : __float2bfloat16(0.0f);
    }
    __syncthreads();
    if (column < n)
      for (int i = 0; i < kStep && first + i < k; i += 16) {
        wmma::load_matrix_sync(of_x, &tile[0][i], kPitch);
        wmma::load_matrix_sync(of_w, w + static_cast<size_t>(column) * k + first + i, k);
        wmma::mma_sync(sum, of_x, of_w, sum);
      }
    __syncthreads();
  }
  if (column < n)
    wmma::store_matrix_sync(product + static_cast<size_t>(row) * n + column, sum, n, wmma::mem_row_major);
#endif
}

}  // namespace DEVICE::linear_wmma
