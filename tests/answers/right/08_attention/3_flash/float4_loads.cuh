// eight threads load a row as float4, and every tile adds the sum of its weights
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_flash {

__global__ void flash(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                      float* __restrict__ o, int queries, int keys, float scale) {
  __shared__ alignas(16) float of_q[32][32], of_k[32][36], of_v[32][36];
  const int lane = threadIdx.x, warp = threadIdx.y, t = warp * 32 + lane;
  const int first_query = blockIdx.x * 32;
  const size_t head = blockIdx.y;
  // Threads 0 to 255 load one matrix, 256 to 511 the other, eight threads per row.
  const int row = t % 256 / 8, column = t % 8 * 4;
  const auto load = [&](float* to, const float* from, int r, int rows) {
    const float4 four =
        r < rows ? *reinterpret_cast<const float4*>(from + (head * rows + r) * 32 + column) : float4{};
    *reinterpret_cast<float4*>(to) = four;
  };
  if (t < 256) load(&of_q[row][column], q, first_query + row, queries);
  float most = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int first = 0; first < keys; first += 32) {
    if (t < 256) load(&of_k[row][column], k, first + row, keys);
    if (t >= 256 && t < 512) load(&of_v[row][column], v, first + row, keys);
    __syncthreads();
    float score = 0.0f;
    for (int i = 0; i < 32; i += 4) {
      const float4 a = *reinterpret_cast<const float4*>(&of_q[warp][i]);
      const float4 b = *reinterpret_cast<const float4*>(&of_k[lane][i]);
      score += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    score = first + lane < keys ? score * scale : -INFINITY;
    const float larger = max(most, warp_max(score));
    const float weight = expf(score - larger), rescale = expf(most - larger);
    sum = sum * rescale + warp_sum(weight);
    acc *= rescale;
    for (int j = 0; j < 32; ++j) acc += __shfl_sync(0xffffffffu, weight, j) * of_v[j][lane];
    most = larger;
    __syncthreads();
  }
  if (first_query + warp < queries) o[(head * queries + first_query + warp) * 32 + lane] = acc / sum;
}

}  // namespace DEVICE::attention_flash
