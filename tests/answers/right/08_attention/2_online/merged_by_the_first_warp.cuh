// a batch of scores per step: its maximum first, then one rescaling for all of them
#pragma once
#include "device.hpp"

namespace DEVICE::attention_online {

constexpr unsigned kAll = 0xffffffffu;

__device__ inline void to_base(float& most, float& sum, float base) {
  sum = most == -INFINITY ? 0.0f : sum * expf(most - base);
  most = base;
}

__device__ inline void across_warp(float& most, float& sum) {
  float all = most;
  for (int d = 16; d > 0; d /= 2) all = fmaxf(all, __shfl_xor_sync(kAll, all, d));
  to_base(most, sum, all);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(kAll, sum, d);
}

__global__ void largest_and_sum(const float* __restrict__ x, float* __restrict__ most,
                                float* __restrict__ sum, int columns) {
  __shared__ float maxima[32], sums[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const float* row = x + static_cast<size_t>(columns) * blockIdx.x;
  float m = -INFINITY, s = 0.0f;
  for (int j = threadIdx.x; j < columns; j += 2 * blockDim.x) {
    const int next = j + blockDim.x;
    const float a = row[j], b = next < columns ? row[next] : -INFINITY;
    const float larger = fmaxf(m, fmaxf(a, b));
    if (larger == -INFINITY) continue;
    to_base(m, s, larger);
    s += expf(a - larger) + expf(b - larger);
  }
  across_warp(m, s);
  if (lane == 0) maxima[warp] = m, sums[warp] = s;
  __syncthreads();
  if (warp > 0) return;
  m = lane < warps ? maxima[lane] : -INFINITY;
  s = lane < warps ? sums[lane] : 0.0f;
  across_warp(m, s);
  if (lane == 0) most[blockIdx.x] = m, sum[blockIdx.x] = s;
}

}  // namespace DEVICE::attention_online
