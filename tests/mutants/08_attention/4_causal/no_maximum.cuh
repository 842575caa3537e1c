// no maximum is subtracted, and large scores overflow | o[
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
  const int end = min(queries, static_cast<int>(blockIdx.x + 1) * kTile) + keys - queries;
  float sum = 0.0f, acc = 0.0f;
  for (int first = 0; first < end; first += kTile) {
    const int key = first + warp, column = first + lane;
    tile_k[warp][lane] = key < keys ? k[(of_k + key) * kTile + lane] : 0.0f;
    tile_v[warp][lane] = key < keys ? v[(of_k + key) * kTile + lane] : 0.0f;
    __syncthreads();
    float score = 0.0f;
    for (int i = 0; i < kTile; ++i) score += tile_q[warp][i] * tile_k[lane][i];
    weights[warp][lane] = column < keys && column <= query + keys - queries ? expf(score * scale) : 0.0f;
    __syncwarp();
    sum += weights[warp][lane];
    for (int j = 0; j < kTile; ++j) acc += weights[warp][j] * tile_v[j][lane];
    __syncthreads();
  }
  sum = warp_sum(sum);
  if (query < queries) o[(of_q + query) * kTile + lane] = sum > 0.0f ? acc / sum : 0.0f;
}

}  // namespace DEVICE::attention_causal
