/// \file
/// Exercise 00.3, coalesce: the same result from a quarter of the sectors.
///
/// The check launches this kernel with blocks of 256 threads, one block for every 1024 elements; each thread
/// computes four. The result is right, but neighbouring lanes do not have neighbouring elements. Goal: 4
/// bytes read and 4 bytes written per element, with the work still spread over the grid. You choose which
/// four elements each thread computes: for example, elements one block width or one grid width apart.
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_coalesce {

constexpr unsigned kPerThread = 4;

/// out[i] = 2 * x[i] for i < n, kPerThread elements per thread.
__global__ void twice(const float* x, float* out, unsigned n) {
  for (unsigned k = 0; k < kPerThread; ++k) {
    // BEGIN SOLUTION
    const unsigned i = (blockIdx.x * kPerThread + k) * blockDim.x + threadIdx.x;
    // SKELETON
    // // TODO: give each thread other elements.
    // const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * kPerThread + k;
    // END SOLUTION
    if (i < n) out[i] = 2.0f * x[i];
  }
}

}  // namespace DEVICE::first_kernel_coalesce
