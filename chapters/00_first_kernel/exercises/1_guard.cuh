/// \file
/// Exercise 00.1, guard: stop the threads that have no element.
///
/// The check starts this kernel as stage 3 is started: blocks of 256 threads, as many as it takes. For most n
/// the last block has threads too many, and they go behind the end of the arrays. Goal: right for every n,
/// and nothing touched that is not there.
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_guard {

/// out[i] = 2 * x[i] for i < n, one thread per element.
__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2.0f * x[i];  // TODO: not in every thread
}

}  // namespace DEVICE::first_kernel_guard
