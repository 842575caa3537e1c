// the lanes exchange their moments by shuffles, then the warps through shared memory
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_welford {

struct Moments {
  float count, mean, squares;
};

__device__ Moments merged(Moments a, Moments b) {
  const float n = a.count + b.count;
  const float inverse = n > 0.0f ? 1.0f / n : 0.0f;
  const float d = b.mean - a.mean;
  return {n, fmaf(d, b.count * inverse, a.mean), a.squares + b.squares + d * d * a.count * b.count * inverse};
}

__device__ Moments with(Moments m, float x) {
  m.count += 1.0f;
  const float before = x - m.mean;
  m.mean += before / m.count;
  m.squares = fmaf(before, x - m.mean, m.squares);
  return m;
}

__device__ Moments warp_merge(Moments m) {
  for (int offset = 16; offset > 0; offset >>= 1) {
    const float count = __shfl_down_sync(0xffffffffu, m.count, offset);
    const float mean = __shfl_down_sync(0xffffffffu, m.mean, offset);
    const float squares = __shfl_down_sync(0xffffffffu, m.squares, offset);
    m = merged(m, {count, mean, squares});
  }
  return m;
}

__global__ void row_moments(const float* __restrict__ x, float* __restrict__ means,
                            float* __restrict__ variances, int columns) {
  __shared__ float3 warps[8];
  const int t = threadIdx.x, lane = t % 32;
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  Moments mine = {};
  for (int c = t; c < columns; c += blockDim.x) mine = with(mine, row[c]);
  mine = warp_merge(mine);
  if (lane == 0) warps[t / 32] = make_float3(mine.count, mine.mean, mine.squares);
  __syncthreads();
  if (t >= 32) return;
  Moments all = {};
  if (lane < 8) all = {warps[lane].x, warps[lane].y, warps[lane].z};
  all = warp_merge(all);
  if (lane == 0) {
    means[blockIdx.x] = all.mean;
    variances[blockIdx.x] = all.squares / all.count;
  }
}

}  // namespace DEVICE::layernorm_welford
