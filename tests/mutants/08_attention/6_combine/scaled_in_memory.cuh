// the result is added up in memory, part by part | over budget: bytes
#pragma once
#include "device.hpp"

namespace DEVICE::attention_combine {

__global__ void combine(const float* __restrict__ outputs, const float* __restrict__ maxima,
                        const float* __restrict__ sums, float* __restrict__ o, int parts, int d) {
  const int i = threadIdx.x;
  const size_t row = blockIdx.x, at = row * d + i;
  float largest = -INFINITY, sum = 0.0f;
  for (int p = 0; p < parts; ++p) largest = fmaxf(largest, maxima[row * parts + p]);
  if (i < d) o[at] = 0.0f;
  for (int p = 0; p < parts; ++p) {
    if (maxima[row * parts + p] == -INFINITY) continue;
    const float factor = expf(maxima[row * parts + p] - largest);
    sum += factor * sums[row * parts + p];
    if (i < d) o[at] += factor * outputs[(row * parts + p) * d + i];
  }
  if (i < d && sum > 0.0f) o[at] /= sum;
}

}  // namespace DEVICE::attention_combine
