/// \file
/// Exercise 00.2, grid: cover every element with a grid of fixed size.
///
/// The check launches this kernel with 8 blocks of 64 threads, or with 3 of them, whatever n is. At first
/// each thread computes one element, so elements after the grid's last thread are left out. Goal: right for
/// every n and both grids, with the work spread over the grid; 4 bytes read and 4 bytes written per element,
/// so neighbouring lanes of a warp must still have neighbouring elements.
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_grid {

/// out[i] = 2 * x[i] for i < n, by a grid that may have fewer threads than there are elements.
__global__ void twice(const float* x, float* out, unsigned n) {
  // BEGIN SOLUTION
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) out[i] = 2.0f * x[i];
  // SKELETON
  // // TODO: one element is not enough.
  // const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  // if (i < n) out[i] = 2.0f * x[i];
  // END SOLUTION
}

}  // namespace DEVICE::first_kernel_grid
