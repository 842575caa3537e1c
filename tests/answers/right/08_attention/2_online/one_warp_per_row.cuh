// the first warp has the row, with two chains in each lane and exp2f
#pragma once
#include "device.hpp"

namespace DEVICE::attention_online {

struct Chain {
  float most = -INFINITY, sum = 0.0f;
  __device__ void add(float other, float other_sum) {
    constexpr float kLog2E = 1.44269504f;
    const float larger = other > most ? other : most;
    const float base = larger == -INFINITY ? 0.0f : larger;
    sum = sum * exp2f((most - base) * kLog2E) + other_sum * exp2f((other - base) * kLog2E);
    most = larger;
  }
};

__global__ void largest_and_sum(const float* x, float* most, float* sum, int columns) {
  if (threadIdx.x >= 32) return;
  const size_t begin = static_cast<size_t>(blockIdx.x) * columns, end = begin + columns;
  Chain even, odd;
  for (size_t i = begin + threadIdx.x; i < end; i += 64) {
    even.add(x[i], 1.0f);
    if (i + 32 < end) odd.add(x[i + 32], 1.0f);
  }
  even.add(odd.most, odd.sum);
  for (int d = 16; d > 0; d >>= 1) {
    const float m = __shfl_xor_sync(0xffffffffu, even.most, d), s = __shfl_xor_sync(0xffffffffu, even.sum, d);
    even.add(m, s);
  }
  if (threadIdx.x == 31) most[blockIdx.x] = even.most, sum[blockIdx.x] = even.sum;
}

}  // namespace DEVICE::attention_online
