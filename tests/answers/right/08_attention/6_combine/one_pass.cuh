// the parts one after the other, as stage 11 does: what has been added up is rescaled when the maximum grows
#pragma once
#include "device.hpp"

namespace DEVICE::attention_combine {

struct Part {
  float largest, sum;
};

__device__ float part_factor(Part part, float largest) {
  return part.largest == -INFINITY ? 0.0f : expf(part.largest - largest);
}

__global__ void combine(const float* __restrict__ outputs, const float* __restrict__ maxima,
                        const float* __restrict__ sums, float* __restrict__ o, int parts, int d) {
  const size_t row = blockIdx.x;
  const int i = threadIdx.x;
  if (i >= d) return;
  Part all = {-INFINITY, 0.0f};
  float acc = 0.0f;
  for (int p = 0; p < parts; ++p) {
    const Part part = {maxima[row * parts + p], sums[row * parts + p]};
    const float largest = fmaxf(all.largest, part.largest);
    const float old_factor = part_factor(all, largest), factor = part_factor(part, largest);
    acc = acc * old_factor + factor * outputs[(row * parts + p) * d + i];
    all = {largest, all.sum * old_factor + factor * part.sum};
  }
  o[row * d + i] = all.sum > 0.0f ? acc / all.sum : 0.0f;
}

}  // namespace DEVICE::attention_combine
