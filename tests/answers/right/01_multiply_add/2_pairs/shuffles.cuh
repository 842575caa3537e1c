// two coalesced loads of 32 floats per warp, which then exchanges them
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_pairs {

/// The value at `index`, or 0 past the end.
__device__ inline float at(const float* array, int index, int count) {
  return index < count ? array[index] : 0.0f;
}

__global__ void exchanged(const float* __restrict__ pairs, const float* __restrict__ v,
                          float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const int warp_first = 2 * (i - lane);
  const float low = at(pairs, warp_first + lane, 2 * n), high = at(pairs, warp_first + 32 + lane, 2 * n);
  // Lanes 0 to 15 find their pairs in `low`, the others in `high`.
  const int source = 2 * lane % 32;
  const float q_low = __shfl_sync(0xffffffffu, low, source), q_high = __shfl_sync(0xffffffffu, high, source);
  const float k_low = __shfl_sync(0xffffffffu, low, source + 1),
              k_high = __shfl_sync(0xffffffffu, high, source + 1);
  if (i < n) out[i] = (lane < 16 ? q_low * k_low : q_high * k_high) + v[i];
}

inline void multiply_add(const float* pairs, const float* v, float* out, int n) {
  launch(exchanged, (n - 1) / 256 + 1, 256, pairs, v, out, n);
}

}  // namespace DEVICE::multiply_add_pairs
