// in one pass: the accumulator is not rescaled when the maximum grows | o[
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
    sum = sum * expf(largest - now) + expf(maximum - now) * sums[row * parts + p];
    if (i < d) acc += expf(maximum - now) * outputs[(row * parts + p) * d + i];
    largest = now;
  }
  if (i < d) o[row * d + i] = sum > 0.0f ? acc / sum : 0.0f;
}

}  // namespace DEVICE::attention_combine
