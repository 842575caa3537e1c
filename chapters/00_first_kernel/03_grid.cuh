/// \file
/// Stage 3: a grid of blocks with one thread per element, so that the whole GPU has work.
#pragma once
#include "problem.cuh"

namespace DEVICE::first_kernel {

/// out[i] = 2 * x[i], one thread per element; the last block may have threads to spare.
/// Traffic: reads 4 bytes and writes 4 bytes per element.
__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i];
}

// --- On the host ---

struct Grid {
  static constexpr Stage row = kDoubles.with(
      {.name = "03_grid", .idea = "a grid of blocks, one thread per element: the whole GPU has work"});
  // [grid]
  static void run(const Data& data) {
    const int n = length(data.shape);
    const int blocks = (n - 1) / kThreads + 1;  // n / kThreads, rounded up
    launch(twice, blocks, kThreads, data[kX], data[kOut], n);
  }
  // [grid]
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
};

}  // namespace DEVICE::first_kernel
