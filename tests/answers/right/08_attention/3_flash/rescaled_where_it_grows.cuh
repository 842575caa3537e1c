// rescales in a branch that the whole warp takes when the maximum has grown
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_flash {

struct Row {
  float most = -1e30f, sum = 0.0f, acc = 0.0f;
  __device__ void rescale_to(float larger) {
    const float factor = __expf(most - larger);
    sum *= factor;
    acc *= factor;
    most = larger;
  }
};

__global__ void flash(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                      float* __restrict__ o, int queries, int keys, float scale) {
  __shared__ float tile_k[32][33], tile_v[32][33];
  const int lane = threadIdx.x, warp = threadIdx.y, query = blockIdx.x * 32 + warp;
  const size_t row = static_cast<size_t>(blockIdx.y) * queries + query;
  const float own = query < queries ? q[row * 32 + lane] : 0.0f;  // the query, one element per lane
  Row state;
  for (int first = 0; first < keys; first += 32) {
    const size_t key = static_cast<size_t>(blockIdx.y) * keys + first + warp;
    const bool inside = first + warp < keys;
    tile_k[lane][warp] = inside ? k[key * 32 + lane] : 0.0f;  // transposed
    tile_v[warp][lane] = inside ? v[key * 32 + lane] : 0.0f;
    __syncthreads();
    float score = 0.0f;
    for (int i = 0; i < 32; ++i) score = fmaf(__shfl_sync(0xffffffffu, own, i), tile_k[i][lane], score);
    score = first + lane < keys ? score * scale : -INFINITY;
    const float of_tile = warp_max(score);
    if (of_tile > state.most) state.rescale_to(of_tile);
    const float weight = __expf(score - state.most);
    state.sum += warp_sum(weight);
    for (int j = 0; j < 32; ++j)
      state.acc = fmaf(__shfl_sync(0xffffffffu, weight, j), tile_v[j][lane], state.acc);
    __syncthreads();
  }
  if (query < queries) o[row * 32 + lane] = state.acc / state.sum;
}

}  // namespace DEVICE::attention_flash
