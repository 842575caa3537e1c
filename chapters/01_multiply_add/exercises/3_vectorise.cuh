/// \file
/// Exercise 01.3, vectorise: compute out = a * x + y in float4, at any alignment.
///
/// The kernel is right, but each request of a warp covers only 128 bytes. Let its threads load and store
/// float4. The address of a float4 must be a multiple of 16 bytes, but those of x, y and out need not be, and
/// n is any number. So compute the elements before the first such address, and those after the last whole
/// float4, one by one. Where the three arrays do not reach such an address at the same element, compute all
/// elements one by one.
///
/// Goal: one launch, with the work spread over the grid and at most one thread per four elements, rounded up
/// to whole blocks; a quarter of the load and store requests, also where all arrays begin 4 bytes past a
/// multiple of 16. There the 512 bytes of a warp touch 17 sectors, not 16, so 8.5 bytes read and 4.25 bytes
/// written per element are allowed.
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_vectorise {

/// One thread per element. TODO: one thread per float4.
__global__ void scaled_sum(float a, const float* __restrict__ x, const float* __restrict__ y,
                           float* __restrict__ out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}

/// Computes out = a * x + y for n elements; x, y and out are device memory.
inline void scale_and_add(float a, const float* x, const float* y, float* out, int n) {
  constexpr int kThreads = 256;
  launch(scaled_sum, (n - 1) / kThreads + 1, kThreads, a, x, y, out, static_cast<unsigned>(n));
}

}  // namespace DEVICE::multiply_add_vectorise
