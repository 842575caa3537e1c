/// \file
/// Stage 2: the same block, but neighbouring threads take neighbouring elements, so that a warp uses all of
/// the sectors that it asks for.
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel {

/// out[i] = 2 * x[i], by one block. Thread t computes elements t, t + threads, t + 2 * threads and so on.
/// Traffic: reads 4 bytes and writes 4 bytes per element.
__global__ void twice_in_turns(const float* x, float* out, unsigned n) {
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) out[i] = 2.0f * x[i];
}

}  // namespace DEVICE::first_kernel
