// each warp skips the tiles that its query does not see, its part of them too | uninitialised shared memory
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
  const size_t of_q = static_cast<size_t>(blockIdx.y) * queries,
               of_k = static_cast<size_t>(blockIdx.y) * keys;
  tile_q[warp][lane] = query < queries ? q[(of_q + query) * kTile + lane] : 0.0f;
  float most = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int first = 0; first < keys; first += kTile) {
    if (first > query + keys - queries) continue;
    const int key = first + warp;
    tile_k[warp][lane] = key < keys ? k[(of_k + key) * kTile + lane] : 0.0f;
    tile_v[warp][lane] = key < keys ? v[(of_k + key) * kTile + lane] : 0.0f;
    __syncthreads();
    float score = 0.0f;
    for (int i = 0; i < kTile; ++i) score += tile_q[warp][i] * tile_k[lane][i];
    score = first + lane < keys && first + lane <= query + keys - queries ? score * scale : -INFINITY;
    const float now = fmaxf(most, warp_max(score));
    const float rescale = expf(most - now), weight = expf(score - now);
    weights[warp][lane] = weight;
    __syncwarp();
    most = now;
    sum = sum * rescale + weight;
    acc *= rescale;
    for (int j = 0; j < kTile; ++j) acc += weights[warp][j] * tile_v[j][lane];
    __syncthreads();
  }
  sum = warp_sum(sum);
  if (query < queries) o[(of_q + query) * kTile + lane] = sum > 0.0f ? acc / sum : 0.0f;
}

}  // namespace DEVICE::attention_causal
