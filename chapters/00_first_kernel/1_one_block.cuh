/// \file
/// Stage 1: one block of threads shares the array out as the cores of a CPU would: each thread gets one part
/// of it, from end to end. The threads of a warp are then a part apart, and each drags in a sector of its
/// own: 32 bytes read and 32 bytes written per element.
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel {

/// out[i] = 2 * x[i], by one block. Thread t computes elements t * part to t * part + part - 1.
__global__ void twice_in_parts(const float* x, float* out, unsigned n) {
  const unsigned part = (n - 1) / blockDim.x + 1;  // n / threads, rounded up
  for (unsigned k = 0; k < part; ++k) {
    const unsigned i = threadIdx.x * part + k;
    if (i < n) out[i] = 2.0f * x[i];
  }
}

}  // namespace DEVICE::first_kernel
