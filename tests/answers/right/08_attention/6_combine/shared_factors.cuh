// each thread computes the factor of one part, 128 parts at a time, for the whole block
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_combine {

__global__ void combine(const float* __restrict__ outputs, const float* __restrict__ maxima,
                        const float* __restrict__ sums, float* __restrict__ o, int parts, int d) {
  constexpr int kThreads = 128;
  __shared__ float factors[kThreads];
  const int t = threadIdx.x;
  const size_t first = static_cast<size_t>(blockIdx.x) * parts;
  float largest = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int p = t; p < parts; p += kThreads) largest = fmaxf(largest, maxima[first + p]);
  largest = block_max_by_warps(largest);
  for (int begin = 0; begin < parts; begin += kThreads) {
    const int p = begin + t;
    float factor = 0.0f;
    if (p < parts && maxima[first + p] > -INFINITY) factor = expf(maxima[first + p] - largest);
    if (p < parts) sum += factor * sums[first + p];
    __syncthreads();
    factors[t] = factor;
    __syncthreads();
    if (t < d)
      for (int j = begin; j < min(parts, begin + kThreads); ++j)
        acc += factors[j - begin] * outputs[(first + j) * d + t];
  }
  sum = block_sum_by_warps(sum);
  if (t < d) o[static_cast<size_t>(blockIdx.x) * d + t] = sum > 0.0f ? acc / sum : 0.0f;
}

}  // namespace DEVICE::attention_combine
