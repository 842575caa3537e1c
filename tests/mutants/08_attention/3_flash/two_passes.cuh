// one pass over the keys for maximum and sum, another one for the weights | over budget: bytes read
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_flash {

__global__ void flash(const float* q, const float* k, const float* v, float* o, int queries, int keys,
                      float scale) {
  __shared__ float tile_q[32][32], tile_k[32][33], tile_v[32][32];
  const int lane = threadIdx.x, warp = threadIdx.y, query = blockIdx.x * 32 + warp;
  const size_t of_query = (static_cast<size_t>(blockIdx.y) * queries + query) * 32 + lane;
  tile_q[warp][lane] = query < queries ? q[of_query] * scale : 0.0f;
  float most = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int pass = 0; pass < 2; ++pass)
    for (int first = 0; first < keys; first += 32) {
      const size_t of_key = (static_cast<size_t>(blockIdx.y) * keys + first + warp) * 32 + lane;
      __syncthreads();
      tile_k[warp][lane] = first + warp < keys ? k[of_key] : 0.0f;
      if (pass == 1) tile_v[warp][lane] = first + warp < keys ? v[of_key] : 0.0f;
      __syncthreads();
      float score = 0.0f;
      for (int i = 0; i < 32; ++i) score += tile_q[warp][i] * tile_k[lane][i];
      if (first + lane >= keys) score = -INFINITY;
      if (pass == 0) {
        const float larger = fmaxf(most, warp_max(score));
        sum = sum * expf(most - larger) + expf(score - larger);
        most = larger;
      } else {
        const float weight = expf(score - most);
        for (int j = 0; j < 32; ++j) acc += __shfl_sync(0xffffffffu, weight, j) * tile_v[j][lane];
      }
    }
  sum = warp_sum(sum);
  if (query < queries) o[of_query] = acc / sum;
}

}  // namespace DEVICE::attention_flash
