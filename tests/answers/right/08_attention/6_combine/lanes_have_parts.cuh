// in each warp a lane has the pair of one part, and hands its factor to the others by a shuffle
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_combine {

__global__ void combine(const float* __restrict__ outputs, const float* __restrict__ maxima,
                        const float* __restrict__ sums, float* __restrict__ o, int parts, int d) {
  const int i = threadIdx.x, lane = i % 32;
  const size_t first = static_cast<size_t>(blockIdx.x) * parts;
  float largest = -INFINITY;
  for (int p = lane; p < parts; p += 32) largest = fmaxf(largest, maxima[first + p]);
  largest = warp_max(largest);
  float sum = 0.0f, acc = 0.0f;
  for (int begin = 0; begin < parts; begin += 32) {
    const int p = begin + lane;
    const float maximum = p < parts ? maxima[first + p] : -INFINITY;
    const float factor = maximum == -INFINITY ? 0.0f : expf(maximum - largest);
    if (p < parts) sum += factor * sums[first + p];
    for (int j = 0; j < 32 && begin + j < parts; ++j) {
      const float of_part = __shfl_sync(0xffffffffu, factor, j);
      if (i < d) acc += of_part * outputs[(first + begin + j) * d + i];
    }
  }
  sum = warp_sum(sum);
  if (i < d) o[static_cast<size_t>(blockIdx.x) * d + i] = sum > 0.0f ? acc / sum : 0.0f;
}

}  // namespace DEVICE::attention_combine
