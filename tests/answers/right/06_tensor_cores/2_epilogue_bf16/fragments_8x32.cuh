// fragments of 8 x 32, two rows of them per warp; the kernel takes no product
#pragma once
#include "device.hpp"
#include "halves.hpp"

namespace DEVICE::linear_epilogue_bf16 {

__device__ inline float gelu(float v) { return 0.5f * v * (1.0f + erff(v * static_cast<float>(M_SQRT1_2))); }

__global__ void multiply(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                         const float* __restrict__ bias, __nv_bfloat16* __restrict__ y, int k, int n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  namespace wmma = nvcuda::wmma;
  __shared__ __align__(32) float staging[4][8][36];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.y * 16, column = (blockIdx.x * 4 + warp) * 32;
  if (column >= n) return;
  wmma::fragment<wmma::matrix_a, 8, 32, 16, __nv_bfloat16, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 8, 32, 16, __nv_bfloat16, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 8, 32, 16, float> acc[2];
  for (auto& one : acc) wmma::fill_fragment(one, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(b, w + (size_t)column * k + i, k);
    for (int half = 0; half < 2; ++half) {
      wmma::load_matrix_sync(a, x + (size_t)(row + 8 * half) * k + i, k);
      wmma::mma_sync(acc[half], a, b, acc[half]);
    }
  }
  const float shift = bias[column + lane];
  for (int half = 0; half < 2; ++half) {
    wmma::store_matrix_sync(&staging[warp][0][0], acc[half], 36, wmma::mem_row_major);
    __syncwarp();
    for (int r = 0; r < 8; ++r)
      y[(size_t)(row + 8 * half + r) * n + column + lane] =
          __float2bfloat16(gelu(staging[warp][r][lane] + shift));
    __syncwarp();
  }
#endif
}

void linear(const __nv_bfloat16* x, const __nv_bfloat16* w, const float* bias, float* /*product*/,
            __nv_bfloat16* y, int m, int k, int n) {
  launch(multiply, dim3((n + 127) / 128, m / 16), 128, x, w, bias, y, k, n);
}

}  // namespace DEVICE::linear_epilogue_bf16
