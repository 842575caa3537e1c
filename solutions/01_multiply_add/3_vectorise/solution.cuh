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

// BEGIN SOLUTION
/// How many floats `p` is past a multiple of 16 bytes: 0 to 3.
__device__ inline unsigned phase(const float* p) {
  return static_cast<unsigned>(reinterpret_cast<unsigned long long>(p) / 4 % 4);
}

/// One thread per float4; the elements before and after are done one by one, divided among all threads.
__global__ void scaled_sum(float a, const float* __restrict__ x, const float* __restrict__ y,
                           float* __restrict__ out, unsigned n) {
  const bool together = phase(x) == phase(y) && phase(x) == phase(out);
  const unsigned to_boundary = (4 - phase(x)) % 4;
  const unsigned head = together && to_boundary < n ? to_boundary : n;
  const unsigned vectors = (n - head) / 4;

  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread < vectors) {
    const float4 x4 = reinterpret_cast<const float4*>(x + head)[thread];
    const float4 y4 = reinterpret_cast<const float4*>(y + head)[thread];
    reinterpret_cast<float4*>(out + head)[thread] =
        make_float4(a * x4.x + y4.x, a * x4.y + y4.y, a * x4.z + y4.z, a * x4.w + y4.w);
  }

  const unsigned singles = n - 4 * vectors;
  for (unsigned s = thread; s < singles; s += gridDim.x * blockDim.x) {
    const unsigned i = s < head ? s : s + 4 * vectors;
    out[i] = a * x[i] + y[i];
  }
}

/// Computes out = a * x + y for n elements; x, y and out are device memory.
inline void scale_and_add(float a, const float* x, const float* y, float* out, int n) {
  constexpr int kThreads = 256;
  launch(scaled_sum, (n - 1) / (4 * kThreads) + 1, kThreads, a, x, y, out, static_cast<unsigned>(n));
}
// SKELETON
// /// One thread per element. TODO: one thread per float4.
// __global__ void scaled_sum(float a, const float* __restrict__ x, const float* __restrict__ y,
//                            float* __restrict__ out, unsigned n) {
//   const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//   if (i < n) out[i] = a * x[i] + y[i];
// }
//
// /// Computes out = a * x + y for n elements; x, y and out are device memory.
// inline void scale_and_add(float a, const float* x, const float* y, float* out, int n) {
//   constexpr int kThreads = 256;
//   launch(scaled_sum, (n - 1) / kThreads + 1, kThreads, a, x, y, out, static_cast<unsigned>(n));
// }
// END SOLUTION

}  // namespace DEVICE::multiply_add_vectorise
