// sums and product have the precision of bfloat16 | is 
#pragma once
#include "device.hpp"
#include "halves.hpp"

namespace DEVICE::linear_wmma {

__global__ void multiply(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  const int lane = threadIdx.x % 32, row = blockIdx.y * 16, column = (blockIdx.x * 4 + threadIdx.x / 32) * 16;
  if (column >= n) return;
  for (int e = lane; e < 256; e += 32) {
    const size_t r = row + e / 16, c = column + e % 16;
    __nv_bfloat16 sum = __float2bfloat16(0.0f);
    for (int i = 0; i < k; ++i) sum = __hfma(x[r * k + i], w[c * k + i], sum);
    product[r * n + c] = __bfloat162float(sum);
  }
}

}  // namespace DEVICE::linear_wmma
