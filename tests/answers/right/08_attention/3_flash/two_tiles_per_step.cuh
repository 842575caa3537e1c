// 64 keys per step, two scores per lane; the maximum is the lowest finite number at first
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_flash {

constexpr int kStep = 64;

__global__ void flash(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                      float* __restrict__ o, int queries, int keys, float scale) {
  __shared__ float of_q[32][32], of_k[kStep][33], of_v[kStep][32];
  const int lane = threadIdx.x, warp = threadIdx.y, query = blockIdx.x * blockDim.y + warp;
  const size_t at = (static_cast<size_t>(blockIdx.y) * queries + query) * 32 + lane;
  of_q[warp][lane] = query < queries ? q[at] : 0.0f;
  float most = -3e38f, sum = 0.0f, acc = 0.0f;
  for (int first = 0; first < keys; first += kStep) {
    for (int r = warp; r < kStep; r += 32) {
      const size_t from = (static_cast<size_t>(blockIdx.y) * keys + first + r) * 32 + lane;
      of_k[r][lane] = first + r < keys ? k[from] : 0.0f;
      of_v[r][lane] = first + r < keys ? v[from] : 0.0f;
    }
    __syncthreads();
    float a = 0.0f, b = 0.0f;
    for (int i = 0; i < 32; ++i) {
      const float element = of_q[warp][i];
      a += element * of_k[lane][i];
      b += element * of_k[lane + 32][i];
    }
    a = first + lane < keys ? a * scale : -INFINITY;
    b = first + lane + 32 < keys ? b * scale : -INFINITY;
    const float before = most;
    most = fmaxf(most, warp_max(fmaxf(a, b)));
    a = expf(a - most);
    b = expf(b - most);
    sum = sum * expf(before - most) + (a + b);
    acc *= expf(before - most);
    for (int j = 0; j < 32; ++j) {
      acc += __shfl_sync(0xffffffffu, a, j) * of_v[j][lane];
      acc += __shfl_sync(0xffffffffu, b, j) * of_v[j + 32][lane];
    }
    __syncthreads();
  }
  sum = warp_sum(sum);
  if (query < queries) o[at] = acc / sum;
}

}  // namespace DEVICE::attention_flash
