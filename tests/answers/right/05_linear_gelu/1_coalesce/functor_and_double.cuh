// a functor, the sum in double, and the last lane stores
#pragma once
#include "device.hpp"

namespace DEVICE::linear_coalesce {

struct MultiplyAdd {
  __device__ double operator()(double sum, float a, float b) const {
    return sum + static_cast<double>(a) * b;
  }
};

__device__ inline double sum_over_warp(double value) {
  for (int distance = 1; distance < 32; distance *= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  const size_t row = blockIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n) return;
  double sum = 0;
  const MultiplyAdd add;
  for (int step = 0; step < (k + 31) / 32; ++step) {
    const int i = step * 32 + threadIdx.x;
    if (i < k) sum = add(sum, __ldg(x + row * k + i), __ldg(w + static_cast<size_t>(column) * k + i));
  }
  sum = sum_over_warp(sum);
  if (threadIdx.x == 31) product[row * n + column] = static_cast<float>(sum);
}

}  // namespace DEVICE::linear_coalesce
