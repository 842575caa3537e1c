// exponents of two, of which each maximum is multiplied before the subtraction
#pragma once
#include "device.hpp"

namespace DEVICE::attention_combine {

__global__ void combine(const float* __restrict__ outputs, const float* __restrict__ maxima,
                        const float* __restrict__ sums, float* __restrict__ o, int parts, int d) {
  const float c = 1.44269504f;
  const int i = threadIdx.x;
  const size_t row = blockIdx.x;
  float largest = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int p = 0; p < parts; ++p) largest = fmaxf(largest, c * maxima[row * parts + p]);
  if (largest > -INFINITY)
    for (int p = 0; p < parts; ++p) {
      const float factor = exp2f(c * maxima[row * parts + p] - largest);
      sum += factor * sums[row * parts + p];
      if (i < d) acc += factor * outputs[(row * parts + p) * d + i];
    }
  else
    sum = 1.0f;
  if (i < d) o[row * d + i] = acc / sum;
}

}  // namespace DEVICE::attention_combine
