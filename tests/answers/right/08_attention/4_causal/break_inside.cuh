// a loop over all tiles that every thread of the block leaves at the same one
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_causal {

constexpr int kTile = 32;

__global__ void attend(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                       float* __restrict__ o, int queries, int keys, float scale) {
  __shared__ float tile_q[kTile][kTile], tile_k[kTile][kTile + 1], tile_v[kTile][kTile];
  __shared__ float weights[kTile][kTile];
  const int lane = threadIdx.x, warp = threadIdx.y, query = blockIdx.x * kTile + warp;
  const int offset = keys - queries,
            last_query = min(static_cast<int>(blockIdx.x) * kTile + kTile - 1, queries - 1);
  const size_t of_q = static_cast<size_t>(blockIdx.y) * queries,
               of_k = static_cast<size_t>(blockIdx.y) * keys;
  tile_q[warp][lane] = query < queries ? q[(of_q + query) * kTile + lane] * scale : 0.0f;
  float most = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int first = 0; first < keys; first += kTile) {
    if (first > last_query + offset) break;
    const int key = first + warp;
    tile_k[warp][lane] = key < keys ? k[(of_k + key) * kTile + lane] : 0.0f;
    tile_v[warp][lane] = key < keys ? v[(of_k + key) * kTile + lane] : 0.0f;
    __syncthreads();
    float score = 0.0f;
    for (int i = 0; i < kTile; ++i) score += tile_q[warp][i] * tile_k[lane][i];
    const int j = first + lane;
    if (j >= keys || j > query + offset) score = -INFINITY;
    const float now = fmaxf(most, warp_max(score));
    float weight = 0.0f;
    if (now != -INFINITY) {
      const float rescale = most == -INFINITY ? 0.0f : expf(most - now);
      weight = score == -INFINITY ? 0.0f : expf(score - now);
      sum = sum * rescale + weight;
      acc *= rescale;
    }
    most = now;
    weights[warp][lane] = weight;
    __syncwarp();
    for (int i = 0; i < kTile; ++i) acc += weights[warp][i] * tile_v[i][lane];
    __syncthreads();
  }
  const float all = warp_sum(sum);
  if (query < queries) o[(of_q + query) * kTile + lane] = most == -INFINITY ? 0.0f : acc / all;
}

}  // namespace DEVICE::attention_causal
