// the weights of a warp go through shared memory, and a warp whose query does not exist only loads
#pragma once
#include "device.hpp"

namespace DEVICE::attention_flash {

__global__ void flash(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                      float* __restrict__ o, int queries, int keys, float scale) {
  constexpr int T = 32;
  __shared__ float of_q[T][T], of_k[T][T + 1], of_v[T][T], weights[T][T];
  const int x = threadIdx.x, y = threadIdx.y;
  const int query = blockIdx.x * T + y;
  const bool exists = query < queries;
  q += static_cast<size_t>(blockIdx.y) * queries * T;
  o += static_cast<size_t>(blockIdx.y) * queries * T;
  k += static_cast<size_t>(blockIdx.y) * keys * T;
  v += static_cast<size_t>(blockIdx.y) * keys * T;
  if (exists) of_q[y][x] = q[static_cast<size_t>(query) * T + x] * scale;
  float most = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int first = 0; first < keys; first += T) {
    const int count = min(T, keys - first);
    __syncthreads();
    if (y < count) {
      of_k[y][x] = k[static_cast<size_t>(first + y) * T + x];
      of_v[y][x] = v[static_cast<size_t>(first + y) * T + x];
    }
    __syncthreads();
    if (!exists) continue;
    float score = -INFINITY;
    if (x < count) {
      score = 0.0f;
      for (int i = 0; i < T; ++i) score += of_q[y][i] * of_k[x][i];
    }
    float larger = fmaxf(most, score);
    for (int d = T / 2; d > 0; d /= 2) larger = fmaxf(larger, __shfl_xor_sync(0xffffffffu, larger, d));
    weights[y][x] = expf(score - larger);
    __syncwarp();
    const float rescale = expf(most - larger);
    sum *= rescale;
    acc *= rescale;
    for (int j = 0; j < count; ++j) {  // each lane adds up all weights
      sum += weights[y][j];
      acc += weights[y][j] * of_v[j][x];
    }
    most = larger;
  }
  if (exists) o[static_cast<size_t>(query) * T + x] = acc / sum;
}

}  // namespace DEVICE::attention_flash
