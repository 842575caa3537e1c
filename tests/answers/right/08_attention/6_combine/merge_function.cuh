// a function merges two states, from the last part to the first
#pragma once
#include "device.hpp"

namespace DEVICE::attention_combine {

struct State {
  float maximum, sum, acc;
};

__device__ State merged(State a, State b) {
  if (b.maximum == -INFINITY) return a;
  if (a.maximum < b.maximum) return merged(b, a);
  const float factor = expf(b.maximum - a.maximum);
  return {a.maximum, a.sum + factor * b.sum, a.acc + factor * b.acc};
}

__global__ void combine(const float* __restrict__ outputs, const float* __restrict__ maxima,
                        const float* __restrict__ sums, float* __restrict__ o, int parts, int d) {
  const unsigned i = threadIdx.x;
  State all = {-INFINITY, 0.0f, 0.0f};
  for (int p = parts - 1; p >= 0; --p) {
    const size_t part = static_cast<size_t>(blockIdx.x) * parts + p;
    all = merged(all, {maxima[part], sums[part], i < d ? outputs[part * d + i] : 0.0f});
  }
  if (i < d) o[static_cast<size_t>(blockIdx.x) * d + i] = all.sum > 0.0f ? all.acc / all.sum : 0.0f;
}

}  // namespace DEVICE::attention_combine
