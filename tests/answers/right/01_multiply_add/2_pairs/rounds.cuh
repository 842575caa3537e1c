// four elements per thread, a block width apart, with all pairs loaded first
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_pairs {

constexpr int kRounds = 4, kWidth = 64;

__global__ void rounds(const float* __restrict__ pairs, const float* __restrict__ v, float* __restrict__ out,
                       int n) {
  const int first = blockIdx.x * kRounds * kWidth + threadIdx.x;
  float2 qk[kRounds];
#pragma unroll
  for (int r = 0; r < kRounds; ++r)
    if (first + r * kWidth < n) qk[r] = *reinterpret_cast<const float2*>(pairs + 2 * (first + r * kWidth));
#pragma unroll
  for (int r = 0; r < kRounds; ++r)
    if (first + r * kWidth < n) out[first + r * kWidth] = qk[r].x * qk[r].y + v[first + r * kWidth];
}

inline void multiply_add(const float* pairs, const float* v, float* out, int n) {
  launch(rounds, (n - 1) / (kRounds * kWidth) + 1, kWidth, pairs, v, out, n);
}

}  // namespace DEVICE::multiply_add_pairs
