/// \file
/// Stage 2: the same block, but neighbouring threads take neighbouring elements, so that a warp uses all of
/// the sectors that it touches.
#pragma once
#include "problem.cuh"

namespace DEVICE::first_kernel {

/// out[i] = 2 * x[i], by one block. Thread t computes elements t, t + threads, t + 2 * threads and so on.
/// Traffic: reads 4 bytes and writes 4 bytes per element.
__global__ void twice_coalesced(const float* x, float* out, unsigned n) {
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) out[i] = 2.0f * x[i];
}

// --- On the host ---

struct Coalesced {
  static constexpr Stage row = kDoubles.with(
      {.name = "02_coalesced",
       .idea = "neighbouring threads take neighbouring elements: no byte of a sector is wasted"});
  static void run(const Data& data) {
    launch(twice_coalesced, 1, kThreads, data[kX], data[kOut], length(data.shape));
  }
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
};

}  // namespace DEVICE::first_kernel
