// the maximum is updated key after key; all lanes of a warp hold the same maximum and sum
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_flash {

__global__ void flash(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                      float* __restrict__ o, int queries, int keys, float scale) {
  __shared__ float tile_k[32][32], tile_v[32][32];
  const int lane = threadIdx.x, warp = threadIdx.y, query = blockIdx.x * 32 + warp;
  const size_t of_query = (static_cast<size_t>(blockIdx.y) * queries + query) * 32 + lane;
  const float element = query < queries ? q[of_query] * scale : 0.0f;
  float most = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int first = 0; first < keys; first += 32) {
    __syncthreads();
    if (first + warp < keys) {
      const size_t of_key = (static_cast<size_t>(blockIdx.y) * keys + first + warp) * 32 + lane;
      tile_k[warp][lane] = k[of_key];
      tile_v[warp][lane] = v[of_key];
    }
    __syncthreads();
    for (int j = 0; j < 32 && first + j < keys; ++j) {
      const float score = warp_sum(element * tile_k[j][lane]);
      if (score > most) {
        const float rescale = expf(most - score);
        sum = sum * rescale + 1.0f;
        acc = acc * rescale + tile_v[j][lane];
        most = score;
      } else {
        const float weight = expf(score - most);
        sum += weight;
        acc += weight * tile_v[j][lane];
      }
    }
  }
  if (query < queries) o[of_query] = acc / sum;
}

}  // namespace DEVICE::attention_flash
