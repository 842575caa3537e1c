// four elements per thread, one block width apart, all loaded first; a lambda
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

constexpr int kEach = 4, kThreads = 128;

__global__ void tiles(const float* __restrict__ x, float* __restrict__ y, int n, Dropout dropout) {
  const int first = blockIdx.x * (kEach * kThreads) + threadIdx.x;
  const auto in_range = [&](auto body) {
#pragma unroll
    for (int j = 0; j < kEach; ++j)
      if (first + j * kThreads < n) body(j, first + j * kThreads);
  };
  float values[kEach];
  in_range([&](int j, int i) { values[j] = x[i]; });
  in_range([&](int j, int i) { y[i] = dropout(gelu(values[j]), number<24>(dropout.random(i), 0)); });
}

inline void gelu_dropout(const float* x, signed char*, float*, float* y, int n, Dropout dropout) {
  launch(tiles, (n + kEach * kThreads - 1) / (kEach * kThreads), kThreads, x, y, n, dropout);
}

}  // namespace DEVICE::gelu_dropout_fuse
