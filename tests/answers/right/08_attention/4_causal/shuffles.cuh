// the query stays in a register, and it and the weights reach the other lanes by shuffles
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_causal {

__global__ void attend(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                       float* __restrict__ o, int queries, int keys, float scale) {
  __shared__ float tile_k[32][33], tile_v[32][32];
  const int lane = threadIdx.x, warp = threadIdx.y, query = blockIdx.x * 32 + warp;
  const float* keys_of_head = k + static_cast<size_t>(blockIdx.y) * keys * 32;
  const float* values = v + static_cast<size_t>(blockIdx.y) * keys * 32;
  const size_t at = (static_cast<size_t>(blockIdx.y) * queries + query) * 32 + lane;
  const float mine = query < queries ? q[at] : 0.0f;
  const int unseen = queries - keys;  // so many queries see no key
  const int tiles = max(0, min(static_cast<int>(blockIdx.x) * 32 + 31, queries - 1) - unseen + 32) / 32;
  float most = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int tile = 0; tile < tiles; ++tile) {
    const int row = tile * 32 + warp, key = tile * 32 + lane;
    if (tile > 0) __syncthreads();
    tile_k[warp][lane] = row < keys ? keys_of_head[row * 32 + lane] : 0.0f;
    tile_v[warp][lane] = row < keys ? values[row * 32 + lane] : 0.0f;
    __syncthreads();
    float score = 0.0f;
    for (int i = 0; i < 32; ++i) score += __shfl_sync(0xffffffffu, mine, i) * tile_k[lane][i];
    score = key <= query - unseen && key < keys ? score * scale : -INFINITY;
    const float before = most;
    most = fmaxf(most, warp_max(score));
    const bool any = most > -INFINITY;
    const float rescale = any ? expf(before - most) : 1.0f, weight = any ? expf(score - most) : 0.0f;
    sum = sum * rescale + warp_sum(weight);
    acc *= rescale;
    for (int j = 0; j < 32; ++j) acc += __shfl_sync(0xffffffffu, weight, j) * tile_v[j][lane];
  }
  if (query < queries) o[at] = sum == 0.0f ? 0.0f : acc / sum;
}

}  // namespace DEVICE::attention_causal
