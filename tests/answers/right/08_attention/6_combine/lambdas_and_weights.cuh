// first the sum, then each part's share of it; lambdas load
#pragma once
#include "device.hpp"

namespace DEVICE::attention_combine {

__global__ void combine(const float* __restrict__ outputs, const float* __restrict__ maxima,
                        const float* __restrict__ sums, float* __restrict__ o, int parts, int d) {
  const int i = threadIdx.x;
  const size_t row = blockIdx.x;
  const auto maximum = [&](int p) { return maxima[row * parts + p]; };
  const auto has_keys = [&](int p) { return sums[row * parts + p] != 0.0f; };
  float largest = -3e38f;
  for (int p = 0; p < parts; ++p) largest = fmaxf(largest, maximum(p));
  float sum = 0.0f, result = 0.0f;
  for (int p = 0; p < parts; ++p) {
    const float factor = expf(maximum(p) - largest);
    sum += factor * sums[row * parts + p];
    if (i < d && has_keys(p)) result += factor * outputs[(row * parts + p) * d + i];
  }
  if (sum > 0.0f) result /= sum;
  if (i < d) o[row * d + i] = result;
}

}  // namespace DEVICE::attention_combine
