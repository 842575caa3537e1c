/// \file
/// Exercise 00.1, guard: stop the threads that have no element.
///
/// The check launches this kernel as stage 3 is launched: with blocks of 256 threads, enough of them for n
/// elements. For most n the last block has more threads than it needs, and the extra threads read and write
/// past the end of the arrays. Goal: right for every n, without any access outside the arrays; 4 bytes read
/// and 4 bytes written per element, with the work spread over the grid.
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_guard {

/// out[i] = 2 * x[i] for i < n, one thread per element.
__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  // BEGIN SOLUTION
  if (i < n) out[i] = 2.0f * x[i];
  // SKELETON
  // out[i] = 2.0f * x[i];  // TODO: not in every thread
  // END SOLUTION
}

}  // namespace DEVICE::first_kernel_guard
