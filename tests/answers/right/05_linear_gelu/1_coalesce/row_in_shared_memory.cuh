// the block keeps a part of the row of x in shared memory for its eight columns
#pragma once
#include "device.hpp"

namespace DEVICE::linear_coalesce {

constexpr int kElements = 256;

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  __shared__ float of_x[kElements];
  const int t = threadIdx.y * 32 + threadIdx.x;
  const int row = blockIdx.x, column = blockIdx.y * 8 + threadIdx.y;
  const bool inside = column < n;
  float sum = 0.0f;
  for (int first = 0; first < k; first += kElements) {
    if (first + t < k) of_x[t] = x[static_cast<size_t>(row) * k + first + t];
    __syncthreads();
    const int count = min(kElements, k - first);
    if (inside)
      for (int i = threadIdx.x; i < count; i += 32)
        sum += of_x[i] * w[static_cast<size_t>(column) * k + first + i];
    __syncthreads();
  }
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  if (inside && threadIdx.x == 0) product[static_cast<size_t>(row) * n + column] = sum;
}

}  // namespace DEVICE::linear_coalesce
