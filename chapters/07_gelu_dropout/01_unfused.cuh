/// \file
/// Stage 1: three kernels. The mask and the result of GELU go through memory.
#pragma once
#include "problem.cuh"

namespace DEVICE::gelu_dropout {

/// mask[i] = 1 where element i stays and 0 where it is dropped, one Philox call per element.
/// Traffic: writes 1 byte per element.
__global__ void draw(signed char* __restrict__ mask, int n, Dropout dropout) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) mask[i] = !dropout.drops(number<24>(dropout.random(i), 0));
}

/// activated[i] = gelu(x[i]). Traffic: reads 4 bytes and writes 4 bytes per element.
__global__ void activate(const float* __restrict__ x, float* __restrict__ activated, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) activated[i] = gelu(x[i]);
}

/// y[i] = activated[i] * mask[i] * scale.
/// Traffic: reads 5 bytes and writes 4 bytes per element.
__global__ void apply_mask(const float* __restrict__ activated, const signed char* __restrict__ mask,
                           float* __restrict__ y, int n, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = activated[i] * (mask[i] ? scale : 0.0f);
}

// --- On the host ---

struct Unfused {
  static constexpr Stage row = kForward.with({.name = "01_unfused",
                                              .idea = "random numbers, GELU, and multiply: three kernels",
                                              .output = {&kYOne},
                                              .kernels = 3});
  static void run(const Data& d) {
    const int n = element_count(d), blocks = ceil_div(n, kThreads);
    const Dropout dropout = dropout_of<24>(d);
    launch(draw, blocks, kThreads, d[kMask], n, dropout);
    launch(activate, blocks, kThreads, d[kX], d[kActivated], n);
    launch(apply_mask, blocks, kThreads, d[kActivated], d[kMask], d[kYOne], n, dropout.scale);
  }
  static Traffic traffic(const Shape& s) {
    const long long n = elements(s), mask = sector_bytes(n, 1);
    return {2 * sector_bytes(n) + mask, 2 * sector_bytes(n) + mask};
  }
};

}  // namespace DEVICE::gelu_dropout
