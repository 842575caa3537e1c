// the block with the most tiles starts first, exponents of two, a block that sees no key stores zeros at once
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_causal {

constexpr int kTile = 32;

__global__ void attend(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                       float* __restrict__ o, int queries, int keys, float scale) {
  __shared__ float tile_q[kTile][kTile + 1], tile_k[kTile][kTile + 1], tile_v[kTile][kTile + 1];
  __shared__ float weights[kTile][kTile];
  const int lane = threadIdx.x, warp = threadIdx.y, begin = (gridDim.x - 1 - blockIdx.x) * kTile;
  const int query = begin + warp;
  const size_t at = (static_cast<size_t>(blockIdx.y) * queries + query) * kTile + lane;
  const auto visible_to = [&](int i) { return max(0, min(keys, i + 1 + keys - queries)); };
  const int end = visible_to(min(begin + kTile, queries) - 1), visible = visible_to(query);
  if (end == 0) {
    if (query < queries) o[at] = 0.0f;
    return;
  }
  const auto load = [&](const float* from, int row, int rows) {
    return row < rows ? from[(static_cast<size_t>(blockIdx.y) * rows + row) * kTile + lane] : 0.0f;
  };
  const float exponent_scale = scale * 1.44269504f;
  tile_q[warp][lane] = load(q, query, queries);
  float most = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int first = 0; first < end; first += kTile) {
    tile_k[warp][lane] = load(k, first + warp, keys);
    tile_v[warp][lane] = load(v, first + warp, keys);
    __syncthreads();
    float score = -INFINITY;
    if (first + lane < visible) {
      score = 0.0f;
      for (int i = 0; i < kTile; ++i) score = fmaf(tile_q[warp][i], tile_k[lane][i], score);
      score *= exponent_scale;
    }
    const float before = most;
    most = fmaxf(most, warp_max(score));
    const bool any = most != -INFINITY;
    const float rescale = any ? exp2f(before - most) : 0.0f;
    weights[warp][lane] = any ? exp2f(score - most) : 0.0f;
    __syncwarp();
    sum *= rescale;
    acc *= rescale;
    for (int j = 0; j < min(kTile, end - first); ++j) {
      sum += weights[warp][j];
      acc += weights[warp][j] * tile_v[j][lane];
    }
    __syncthreads();
  }
  if (query < queries) o[at] = sum > 0.0f ? acc / sum : 0.0f;
}

}  // namespace DEVICE::attention_causal
