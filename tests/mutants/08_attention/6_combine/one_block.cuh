// the first block combines all rows | percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::attention_combine {

__global__ void combine(const float* __restrict__ outputs, const float* __restrict__ maxima,
                        const float* __restrict__ sums, float* __restrict__ o, int parts, int d) {
  if (blockIdx.x > 0) return;
  const int i = threadIdx.x;
  for (size_t row = 0; row < gridDim.x; ++row) {
    float largest = -INFINITY, sum = 0.0f, acc = 0.0f;
    for (int p = 0; p < parts; ++p) largest = fmaxf(largest, maxima[row * parts + p]);
    for (int p = 0; p < parts; ++p) {
      const float maximum = maxima[row * parts + p];
      if (maximum == -INFINITY) continue;
      const float factor = expf(maximum - largest);
      sum += factor * sums[row * parts + p];
      if (i < d) acc += factor * outputs[(row * parts + p) * d + i];
    }
    if (i < d) o[row * d + i] = sum > 0.0f ? acc / sum : 0.0f;
  }
}

}  // namespace DEVICE::attention_combine
