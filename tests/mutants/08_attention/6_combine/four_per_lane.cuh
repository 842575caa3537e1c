// a lane loads four neighbours one by one: each request touches the whole row | over budget: bytes read
#pragma once
#include "device.hpp"

namespace DEVICE::attention_combine {

__global__ void combine(const float* __restrict__ outputs, const float* __restrict__ maxima,
                        const float* __restrict__ sums, float* __restrict__ o, int parts, int d) {
  const size_t row = blockIdx.x;
  float largest = -INFINITY, sum = 0.0f, acc[4] = {};
  if (threadIdx.x >= 32) return;
  for (int p = 0; p < parts; ++p) largest = fmaxf(largest, maxima[row * parts + p]);
  for (int p = 0; p < parts; ++p) {
    const float maximum = maxima[row * parts + p];
    if (maximum == -INFINITY) continue;
    const float factor = expf(maximum - largest);
    sum += factor * sums[row * parts + p];
    for (int c = 0; c < 4; ++c) {
      const int i = threadIdx.x * 4 + c;
      if (i < d) acc[c] += factor * outputs[(row * parts + p) * d + i];
    }
  }
  for (int c = 0; c < 4; ++c) {
    const int i = threadIdx.x * 4 + c;
    if (i < d) o[row * d + i] = sum > 0.0f ? acc[c] / sum : 0.0f;
  }
}

}  // namespace DEVICE::attention_combine
