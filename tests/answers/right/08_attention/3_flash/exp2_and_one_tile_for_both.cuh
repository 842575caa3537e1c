// scores in units of log 2, as in stage 8; k and v share one tile, as in stage 7
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_flash {

constexpr float kLog2E = 1.44269504f;

__global__ void flash(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                      float* __restrict__ o, int queries, int keys, float scale) {
  __shared__ float of_q[32][32], tile[32][33];
  const int lane = threadIdx.x, warp = threadIdx.y, query = blockIdx.x * 32 + warp;
  const size_t of_query = (static_cast<size_t>(blockIdx.y) * queries + query) * 32 + lane;
  of_q[warp][lane] = query < queries ? q[of_query] * (scale * kLog2E) : 0.0f;
  const auto load = [&](const float* matrix, int first) {
    const int key = first + warp;
    __syncthreads();
    tile[warp][lane] = key < keys ? matrix[(static_cast<size_t>(blockIdx.y) * keys + key) * 32 + lane] : 0.0f;
    __syncthreads();
  };
  float most = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int first = 0; first < keys; first += 32) {
    load(k, first);
    float score = 0.0f;
#pragma unroll
    for (int i = 0; i < 32; ++i) score += of_q[warp][i] * tile[lane][i];
    if (first + lane >= keys) score = -INFINITY;
    const float larger = fmaxf(most, warp_max(score));
    const float rescale = exp2f(most - larger), weight = exp2f(score - larger);
    most = larger;
    sum = fmaf(sum, rescale, weight);
    acc *= rescale;
    load(v, first);
#pragma unroll
    for (int j = 0; j < 32; ++j) acc += __shfl_sync(0xffffffffu, weight, j) * tile[j][lane];
  }
  const float factor = 1.0f / warp_sum(sum);
  if (query < queries) o[of_query] = acc * factor;
}

}  // namespace DEVICE::attention_flash
