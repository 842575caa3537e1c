// a row of scores in shared memory, which has no room for many keys | out of bounds
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_flash {

__global__ void flash(const float* q, const float* k, const float* v, float* o, int queries, int keys,
                      float scale) {
  __shared__ float scores[32][256], tile[32][33];
  const int lane = threadIdx.x, warp = threadIdx.y, query = blockIdx.x * 32 + warp;
  const size_t of_query = (static_cast<size_t>(blockIdx.y) * queries + query) * 32 + lane;
  const float element = query < queries ? q[of_query] * scale : 0.0f;
  const auto load = [&](const float* from, int first) {
    __syncthreads();
    const size_t i = (static_cast<size_t>(blockIdx.y) * keys + first + warp) * 32 + lane;
    tile[warp][lane] = first + warp < keys ? from[i] : 0.0f;
    __syncthreads();
  };
  float most = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int first = 0; first < keys; first += 32) {
    load(k, first);
    float score = 0.0f;
    for (int i = 0; i < 32; ++i) score += __shfl_sync(0xffffffffu, element, i) * tile[lane][i];
    if (first + lane < keys) scores[warp][first + lane] = score;
    most = fmaxf(most, first + lane < keys ? score : -INFINITY);
  }
  most = warp_max(most);
  for (int j = lane; j < keys; j += 32) sum += scores[warp][j] = expf(scores[warp][j] - most);
  sum = warp_sum(sum);
  for (int first = 0; first < keys; first += 32) {
    load(v, first);
    for (int j = 0; j < 32 && first + j < keys; ++j) acc += scores[warp][first + j] * tile[j][lane];
  }
  if (query < queries) o[of_query] = acc / sum;
}

}  // namespace DEVICE::attention_flash
