/// \file
/// Exercise 01.3, strided: find out from the counts what is wrong, and repair it.
///
/// The kernel computes out = q * k + v, each element once, and every result is right. Yet it is slow.
/// `./workbook check 01.3` says what it costs. The check launches it with blocks of 256 threads, one block
/// for every 2048 elements, so a thread has eight elements.
///
/// Goal: 12 bytes read and 4 bytes written per element, with the work still spread over the grid.
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_strided {

constexpr unsigned kPerThread = 8;

/// out[i] = q[i] * k[i] + v[i] for i < n; block b computes the elements b * blockDim.x * kPerThread and
/// following.
__global__ void eight_each(const float* __restrict__ q, const float* __restrict__ k,
                           const float* __restrict__ v, float* __restrict__ out, unsigned n) {
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * kPerThread;
  for (unsigned j = 0; j < kPerThread; ++j) {
    const unsigned i = first + j;
    if (i < n) out[i] = q[i] * k[i] + v[i];
  }
}

}  // namespace DEVICE::multiply_add_strided
