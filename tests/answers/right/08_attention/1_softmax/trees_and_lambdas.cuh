// trees in shared memory, and a lambda for what the passes share
#pragma once
#include "device.hpp"

namespace DEVICE::attention_softmax {

template <class Join>
__device__ float all_of(float* words, float value, Join join) {
  words[threadIdx.x] = value;
  __syncthreads();
  for (unsigned count = blockDim.x; count > 1;) {
    const unsigned half = (count + 1) / 2;
    if (threadIdx.x + half < count) words[threadIdx.x] = join(words[threadIdx.x], words[threadIdx.x + half]);
    __syncthreads();
    count = half;
  }
  const float result = words[0];
  __syncthreads();
  return result;
}

__global__ void softmax(const float* __restrict__ x, float* __restrict__ p, int columns) {
  __shared__ float words[1024];
  const size_t row = static_cast<size_t>(columns) * blockIdx.x;
  const auto each = [&](auto body) {
    for (int j = threadIdx.x; j < columns; j += blockDim.x) body(row + j);
  };
  float most = -INFINITY, sum = 0.0f;
  each([&](size_t i) { most = max(most, x[i]); });
  most = all_of(words, most, [](float a, float b) { return fmaxf(a, b); });
  each([&](size_t i) { sum += __expf(x[i] - most); });
  sum = all_of(words, sum, [](float a, float b) { return a + b; });
  each([&](size_t i) { p[i] = __fdividef(__expf(x[i] - most), sum); });
}

}  // namespace DEVICE::attention_softmax
