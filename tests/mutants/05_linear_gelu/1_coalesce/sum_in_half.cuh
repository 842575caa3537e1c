// the sum is kept in half precision | is 
#pragma once
#include "device.hpp"

namespace DEVICE::linear_coalesce {

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  const size_t row = blockIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n) return;
  __half sum = __float2half(0.0f);
  for (int i = threadIdx.x; i < k; i += 32)
    sum = __hadd(sum, __float2half(x[row * k + i] * w[static_cast<size_t>(column) * k + i]));
  for (int distance = 16; distance > 0; distance /= 2)
    sum = __hadd(sum, __shfl_xor_sync(0xffffffffu, sum, distance));
  if (threadIdx.x == 0) product[row * n + column] = __half2float(sum);
}

}  // namespace DEVICE::linear_coalesce
