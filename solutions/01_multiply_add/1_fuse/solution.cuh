/// \file
/// Exercise 01.1, fuse: compute out = q * k + v in one kernel.
///
/// To begin with, the kernel computes the product alone. Let it do the whole work, so that the product is
/// never written to memory.
///
/// Goal: one launch, with the work spread over the grid; 12 bytes read and 4 bytes written per element.
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_fuse {

// BEGIN SOLUTION
__global__ void fused(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                      float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = q[i] * k[i] + v[i];
}

/// Computes out = q * k + v for n elements; all pointers are device memory.
inline void multiply_add(const float* q, const float* k, const float* v, float* out, int n) {
  constexpr int kThreads = 256;
  launch(fused, (n - 1) / kThreads + 1, kThreads, q, k, v, out, n);
}
// SKELETON
// __global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
//                          int n) {
//   const int i = blockIdx.x * blockDim.x + threadIdx.x;
//   if (i < n) out[i] = a[i] * b[i];
// }
//
// /// Computes out = q * k + v for n elements; all pointers are device memory.
// /// TODO: this computes the product alone. Add v, in the same kernel.
// inline void multiply_add(const float* q, const float* k, const float*, float* out, int n) {
//   constexpr int kThreads = 256;
//   launch(multiply, (n - 1) / kThreads + 1, kThreads, q, k, out, n);
// }
// END SOLUTION

}  // namespace DEVICE::multiply_add_fuse
