// without branches: where all parts are empty, 0 is subtracted
#pragma once
#include "device.hpp"

namespace DEVICE::attention_combine {

__global__ void combine(const float* __restrict__ outputs, const float* __restrict__ maxima,
                        const float* __restrict__ sums, float* __restrict__ o, int parts, int d) {
  const int i = threadIdx.x;
  const float* const of_row = outputs + static_cast<size_t>(blockIdx.x) * parts * d;
  maxima += static_cast<size_t>(blockIdx.x) * parts;
  sums += static_cast<size_t>(blockIdx.x) * parts;
  float most = maxima[0];
  for (int p = 1; p < parts; ++p) most = max(most, maxima[p]);
  const float base = isinf(most) ? 0.0f : most;
  float sum = 0.0f, acc = 0.0f;
  for (int p = 0; p < parts; ++p) {
    const float factor = expf(maxima[p] - base);
    sum = fmaf(factor, sums[p], sum);
    if (i < d) acc = fmaf(factor, of_row[static_cast<size_t>(p) * d + i], acc);
  }
  if (i < d) o[static_cast<size_t>(blockIdx.x) * d + i] = sum == 0.0f ? 0.0f : acc * (1.0f / sum);
}

}  // namespace DEVICE::attention_combine
