// four elements per thread, one block width apart; a lambda in the kernel
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_fuse {

constexpr int kPerThread = 4;
constexpr int kThreads = 128;
constexpr int kTile = kPerThread * kThreads;

__global__ void tiles(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
                      int n) {
  const auto f = [](float a, float b) { return expf(fmaf(a, 2.0f, 2.0f * b)); };
  const int first = blockIdx.x * kTile + threadIdx.x;
  float values[kPerThread];
#pragma unroll
  for (int j = 0; j < kPerThread; ++j) {
    const int i = first + j * kThreads;
    if (i < n) values[j] = f(x[i], y[i]);
  }
#pragma unroll
  for (int j = 0; j < kPerThread; ++j) {
    const int i = first + j * kThreads;
    if (i < n) out[i] = values[j];
  }
}

inline void add_mul_exp(const float* x, const float* y, float*, float* out, int n) {
  launch(tiles, (n + kTile - 1) / kTile, kThreads, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_fuse
