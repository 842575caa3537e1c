// tiles that all queries see first, without a mask, then those on the diagonal, with one
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_causal {

constexpr int kTile = 32;

struct Tiles {
  float q[kTile][kTile], k[kTile][kTile + 1], v[kTile][kTile], weights[kTile][kTile];
};

struct State {
  float most = -INFINITY, sum = 0.0f, acc = 0.0f;
};

template <bool Masked>
__device__ void absorb(Tiles& tiles, State& state, const float* k, const float* v, int first, int keys,
                       int visible, float scale) {
  const int lane = threadIdx.x, warp = threadIdx.y, key = first + warp;
  const bool exists = !Masked || key < keys;
  tiles.k[warp][lane] = exists ? k[key * kTile + lane] : 0.0f;
  tiles.v[warp][lane] = exists ? v[key * kTile + lane] : 0.0f;
  __syncthreads();
  float score = 0.0f;
  for (int i = 0; i < kTile; ++i) score += tiles.q[warp][i] * tiles.k[lane][i];
  score *= scale;
  if (Masked && first + lane >= visible) score = -INFINITY;
  const float now = fmaxf(state.most, warp_max(score)), base = Masked && now == -INFINITY ? 0.0f : now;
  const float rescale = expf(state.most - base), weight = expf(score - base);
  tiles.weights[warp][lane] = weight;
  __syncwarp();
  state.most = now;
  state.sum = state.sum * rescale + weight;
  state.acc *= rescale;
  for (int j = 0; j < kTile; ++j) state.acc += tiles.weights[warp][j] * tiles.v[j][lane];
  __syncthreads();
}

__global__ void attend(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                       float* __restrict__ o, int queries, int keys, float scale) {
  __shared__ Tiles tiles;
  const int lane = threadIdx.x, warp = threadIdx.y, begin = blockIdx.x * kTile, query = begin + warp;
  const size_t at = (static_cast<size_t>(blockIdx.y) * queries + query) * kTile + lane;
  k += static_cast<size_t>(blockIdx.y) * keys * kTile;
  v += static_cast<size_t>(blockIdx.y) * keys * kTile;
  tiles.q[warp][lane] = query < queries ? q[at] : 0.0f;
  const int of_first = begin + 1 + keys - queries, end = min(begin + kTile, queries) + keys - queries;
  const int visible = min(query + 1 + keys - queries, keys);
  State state;
  int first = 0;
  for (; first + kTile <= of_first; first += kTile)
    absorb<false>(tiles, state, k, v, first, keys, visible, scale);
  for (; first < end; first += kTile) absorb<true>(tiles, state, k, v, first, keys, visible, scale);
  const float all = warp_sum(state.sum);
  if (query < queries) o[at] = visible > 0 ? state.acc / all : 0.0f;
}

}  // namespace DEVICE::attention_causal
