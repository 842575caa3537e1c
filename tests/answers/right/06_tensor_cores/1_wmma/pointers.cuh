// pointers that move along, using namespace, sizes of another type
#pragma once
#include "device.hpp"
#include "halves.hpp"

namespace DEVICE::linear_wmma {

using namespace nvcuda::wmma;
using Bf16 = __nv_bfloat16;

__global__ void multiply(const Bf16* x, const Bf16* w, float* product, size_t k, size_t n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const size_t col = (blockIdx.x * 4 + threadIdx.x / warpSize) * 16;
  if (col >= n) return;

  fragment<matrix_a, 16, 16, 16, Bf16, row_major> a;
  fragment<matrix_b, 16, 16, 16, Bf16, col_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(c, 0.f);

  const Bf16* pa = x + blockIdx.y * 16 * k;
  const Bf16* pb = w + col * k;
  for (size_t left = k; left > 0; left -= 16) {
    load_matrix_sync(a, pa, k);
    load_matrix_sync(b, pb, k);
    mma_sync(c, a, b, c);
    pa += 16;
    pb += 16;
  }
  store_matrix_sync(&product[blockIdx.y * 16 * n + col], c, n, mem_row_major);
#endif
}

}  // namespace DEVICE::linear_wmma
