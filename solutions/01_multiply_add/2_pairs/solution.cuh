/// \file
/// Exercise 01.2, pairs: find out from the counts what is wasted, and repair it.
///
/// The kernel computes out = q * k + v, in one launch, and every result is right. But q and k arrive in one
/// array, as pairs: q[0], k[0], q[1], k[1] and so on. `./workbook check 01.2` says what that costs.
///
/// Goal: one launch, with the work spread over the grid; 12 bytes read and 4 bytes written per element.
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_pairs {

/// out[i] = q[i] * k[i] + v[i], where q[i] is pairs[2 * i] and k[i] is pairs[2 * i + 1]; one thread per
/// element.
__global__ void fused(const float* __restrict__ pairs, const float* __restrict__ v, float* __restrict__ out,
                      int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // BEGIN SOLUTION
  if (i < n) {
    const float2 qk = reinterpret_cast<const float2*>(pairs)[i];
    out[i] = qk.x * qk.y + v[i];
  }
  // SKELETON
  // // TODO: read each sector of pairs once.
  // if (i < n) out[i] = pairs[2 * i] * pairs[2 * i + 1] + v[i];
  // END SOLUTION
}

/// Computes out = q * k + v for n elements; all pointers are device memory and multiples of 16 bytes.
inline void multiply_add(const float* pairs, const float* v, float* out, int n) {
  constexpr int kThreads = 256;
  launch(fused, (n - 1) / kThreads + 1, kThreads, pairs, v, out, n);
}

}  // namespace DEVICE::multiply_add_pairs
