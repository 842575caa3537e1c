// Welford while the row is loaded into registers, merged by shuffles
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_one_read {

struct Stats {
  float n, mean, m2;
};

__device__ inline Stats operator+(Stats a, Stats b) {
  const float n = a.n + b.n;
  if (n == 0.0f) return a;
  const float delta = b.mean - a.mean;
  return {n, a.mean + delta * (b.n / n), a.m2 + b.m2 + delta * delta * a.n * (b.n / n)};
}

__device__ inline Stats from(Stats s, int offset) {
  return {__shfl_xor_sync(0xffffffffu, s.n, offset), __shfl_xor_sync(0xffffffffu, s.mean, offset),
          __shfl_xor_sync(0xffffffffu, s.m2, offset)};
}

__device__ inline Stats warp_stats(Stats s) {
  for (int offset = 16; offset > 0; offset /= 2) s = s + from(s, offset);
  return s;
}

__global__ void normalise(const float* __restrict__ x, float* __restrict__ y, unsigned columns,
                          float epsilon) {
  __shared__ Stats warps[8];
  const unsigned t = threadIdx.x;
  const size_t first = size_t(blockIdx.x) * columns;
  float held[8];
  Stats mine = {0.0f, 0.0f, 0.0f};
#pragma unroll
  for (unsigned j = 0; j < 8; ++j) {
    if (t + 256 * j >= columns) break;
    held[j] = fmaxf(0.0f, x[first + t + 256 * j]);
    const float delta = held[j] - mine.mean;
    mine.n += 1.0f;
    mine.mean += delta / mine.n;
    mine.m2 += delta * (held[j] - mine.mean);
  }
  mine = warp_stats(mine);
  if (t % 32 == 0) warps[t / 32] = mine;
  __syncthreads();
  const Stats none = {0.0f, 0.0f, 0.0f};
  const Stats row = warp_stats(t % 32 < 8 ? warps[t % 32] : none);
  const float inverse = rsqrtf(row.m2 / columns + epsilon);
#pragma unroll
  for (unsigned j = 0; j < 8; ++j)
    if (t + 256 * j < columns) y[first + t + 256 * j] = (held[j] - row.mean) * inverse;
}

}  // namespace DEVICE::layernorm_one_read
