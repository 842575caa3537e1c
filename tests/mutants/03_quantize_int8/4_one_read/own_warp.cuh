// each warp has a scale of its own | is
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_one_read {

constexpr int kThreads = 256, kHeld = 8;
__global__ void quantize_rows(const float* __restrict__ x, float* __restrict__ scales,
                              signed char* __restrict__ q, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  float held[kHeld], largest = 0.0f;
  for (int j = 0; j < kHeld; ++j) {
    const int c = threadIdx.x + j * kThreads;
    held[j] = c < columns ? x[first + c] : 0.0f;
    largest = fmaxf(largest, fabsf(held[j]));
  }
  for (int mask = 16; mask > 0; mask /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, mask));
  const float scale = largest > 0.0f ? largest / 127.0f : 1.0f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int j = 0; j < kHeld; ++j) {
    const int c = threadIdx.x + j * kThreads;
    if (c < columns)
      q[first + c] = static_cast<signed char>(fmaxf(-128.0f, fminf(127.0f, rintf(held[j] / scale))));
  }
}

}  // namespace DEVICE::quantize_one_read
