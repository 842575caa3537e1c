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
  // [grid]
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    const int blocks = (a.n - 1) / kThreads + 1;  // n / kThreads, rounded up
    launch(twice, blocks, kThreads, a.x, a.out, a.n);
  }
  // [grid]
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
};

}  // namespace DEVICE::first_kernel
