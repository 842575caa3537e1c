// one warp has the row, four columns at a time in each lane where they are aligned; the other warps end
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_welford {

struct Moments {
  float count = 0, mean = 0, squares = 0;
  Moments() = default;
  __device__ Moments(float count, float mean, float squares) : count(count), mean(mean), squares(squares) {}
};

__device__ inline Moments merged(const Moments& a, const Moments& b) {
  const float n = a.count + b.count;
  if (n == 0.0f) return Moments();
  const float d = b.mean - a.mean, share = b.count / n;
  return Moments(n, a.mean + d * share, a.squares + b.squares + d * d * a.count * share);
}

__device__ inline Moments with(const Moments& m, float x) {
  const float n = m.count + 1.0f, d = x - m.mean;
  return Moments(n, m.mean + d / n, m.squares + d * d * m.count / n);
}

__global__ void row_moments(const float* __restrict__ x, float* __restrict__ means,
                            float* __restrict__ variances, int columns) {
  if (threadIdx.x >= 32) return;
  const float* row = x + size_t(blockIdx.x) * columns;
  const int lane = threadIdx.x;
  Moments mine;
  if (columns % 4 == 0) {
    const float4* vectors = reinterpret_cast<const float4*>(row);
    for (int i = lane; i < columns / 4; i += 32) {
      const float4 v = vectors[i];
      mine = with(with(with(with(mine, v.x), v.y), v.z), v.w);
    }
  } else {
    for (int c = lane; c < columns; c += 32) mine = with(mine, row[c]);
  }
#pragma unroll
  for (int d = 1; d < 32; d *= 2)
    mine = merged(mine, Moments(__shfl_xor_sync(0xffffffffu, mine.count, d),
                                __shfl_xor_sync(0xffffffffu, mine.mean, d),
                                __shfl_xor_sync(0xffffffffu, mine.squares, d)));
  if (lane) return;
  means[blockIdx.x] = mine.mean;
  variances[blockIdx.x] = mine.squares / columns;
}

}  // namespace DEVICE::layernorm_welford
