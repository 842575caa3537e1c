// one block of the grid does all heads | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_flash {

__global__ void flash(const float* q, const float* k, const float* v, float* o, int queries, int keys,
                      float scale) {
  __shared__ float tile_k[32][33], tile_v[32][32];
  if (blockIdx.x > 0 || blockIdx.y > 0) return;
  const int lane = threadIdx.x, warp = threadIdx.y;
  for (unsigned block = 0; block < gridDim.x * gridDim.y; ++block) {
    const unsigned head = block / gridDim.x;
    const int query = block % gridDim.x * 32 + warp;
    const size_t of_query = (static_cast<size_t>(head) * queries + query) * 32 + lane;
    const float element = query < queries ? q[of_query] * scale : 0.0f;
    float most = -INFINITY, sum = 0.0f, acc = 0.0f;
    for (int first = 0; first < keys; first += 32) {
      const size_t of_key = (static_cast<size_t>(head) * keys + first + warp) * 32 + lane;
      tile_k[warp][lane] = first + warp < keys ? k[of_key] : 0.0f;
      tile_v[warp][lane] = first + warp < keys ? v[of_key] : 0.0f;
      __syncthreads();
      float score = 0.0f;
      for (int i = 0; i < 32; ++i) score += __shfl_sync(0xffffffffu, element, i) * tile_k[lane][i];
      if (first + lane >= keys) score = -INFINITY;
      const float larger = fmaxf(most, warp_max(score));
      const float rescale = expf(most - larger), weight = expf(score - larger);
      sum = sum * rescale + weight;
      acc *= rescale;
      for (int j = 0; j < 32; ++j) acc += __shfl_sync(0xffffffffu, weight, j) * tile_v[j][lane];
      most = larger;
      __syncthreads();
    }
    sum = warp_sum(sum);
    if (query < queries) o[of_query] = acc / sum;
  }
}

}  // namespace DEVICE::attention_flash
