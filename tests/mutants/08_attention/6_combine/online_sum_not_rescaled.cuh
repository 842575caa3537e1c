// in one pass: the old sum is not rescaled when the maximum grows | o[
#pragma once
#include "device.hpp"

namespace DEVICE::attention_combine {

__global__ void combine(const float* __restrict__ outputs, const float* __restrict__ maxima,
                        const float* __restrict__ sums, float* __restrict__ o, int parts, int d) {
  const int i = threadIdx.x;
  const size_t row = blockIdx.x;
  float largest = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int p = 0; p < parts; ++p) {
    const float maximum = maxima[row * parts + p];
    if (maximum == -INFINITY) continue;
    const float now = fmaxf(largest, maximum);
    const float rescale = expf(largest - now), factor = expf(maximum - now);
    largest = now;
    sum += factor * sums[row * parts + p];
    if (i < d) acc = acc * rescale + factor * outputs[(row * parts + p) * d + i];
  }
  if (i < d) o[row * d + i] = sum > 0.0f ? acc / sum : 0.0f;
}

}  // namespace DEVICE::attention_combine
