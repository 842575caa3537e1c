// each warp reads k and v from device memory for its own query | over budget: bytes read
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_flash {

__global__ void flash(const float* q, const float* k, const float* v, float* o, int queries, int keys,
                      float scale) {
  const int lane = threadIdx.x, query = blockIdx.x * 32 + threadIdx.y;
  if (query >= queries) return;
  const size_t of_query = (static_cast<size_t>(blockIdx.y) * queries + query) * 32 + lane;
  const float element = q[of_query] * scale;
  float most = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int j = 0; j < keys; ++j) {
    const size_t of_key = (static_cast<size_t>(blockIdx.y) * keys + j) * 32 + lane;
    const float score = warp_sum(element * k[of_key]), larger = fmaxf(most, score);
    const float rescale = expf(most - larger), weight = expf(score - larger);
    sum = sum * rescale + weight;
    acc = acc * rescale + weight * v[of_key];
    most = larger;
  }
  o[of_query] = acc / sum;
}

}  // namespace DEVICE::attention_flash
