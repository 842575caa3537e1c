/// \file
/// Exercise 07.2, share_calls: one Philox call and one float4 for four elements.
///
/// A Philox call gives four numbers. Element i gets number i % 4 of call i / 4, so four neighbours share a
/// call:
///
///     element  0  1  2  3   4  5  6  7   8  ...
///     call     0  0  0  0   1  1  1  1   2  ...
///     number   0  1  2  3   0  1  2  3   0  ...
///
/// The kernel is right, but it has one thread per element. So each call is made by four threads, and each of
/// them throws three of its numbers away. Give each thread four elements: it loads them as one float4, makes
/// one call, and stores one float4. x and y begin at multiples of 16 bytes, but n need not be a multiple of
/// 4: the elements after the last whole float4 get their numbers by the same table.
///
/// The offset of the random numbers is in device memory, as in stage 13. The function `draw` is given: it
/// loads the offset and makes a call. That is how the check sees the calls: when the threads of a warp make a
/// call each, this costs one load request.
///
/// Goal: one launch, with the work spread over the grid. For 128 elements, a warp needs two load requests,
/// one for x and one for its calls, and one store request. The load of the offset touches one sector of 32
/// bytes, so 4 + 32 / 128 = 4.25 bytes are read and 4 bytes written per element.
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_share_calls {

/// The four numbers of a call, with *offset as the offset of `random`. The compiler keeps each volatile load,
/// so each call makes one.
__device__ inline uint4 draw(Random random, const volatile unsigned long long* offset, unsigned call) {
  random.offset = *offset;
  return random(call);
}

// BEGIN SOLUTION
/// One thread per float4, and one for the elements after the last of them.
__global__ void share_calls(const float* __restrict__ x, float* __restrict__ y, unsigned n, Dropout dropout,
                            const unsigned long long* offset) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * t >= n) return;
  const uint4 call = draw(dropout.random, offset, t);
  if (4 * t + 4 <= n) {
    float4 four = reinterpret_cast<const float4*>(x)[t];
    four.x = dropout(gelu(four.x), number<24>(call, 0));
    four.y = dropout(gelu(four.y), number<24>(call, 1));
    four.z = dropout(gelu(four.z), number<24>(call, 2));
    four.w = dropout(gelu(four.w), number<24>(call, 3));
    reinterpret_cast<float4*>(y)[t] = four;
  } else {
    for (unsigned i = 4 * t; i < n; ++i) y[i] = dropout(gelu(x[i]), number<24>(call, i % 4));
  }
}

/// y = dropout(gelu(x)) for n elements; all pointers are device memory. dropout.random.offset is 0, and
/// *offset takes its place.
inline void gelu_dropout(const float* x, float* y, int n, Dropout dropout, const unsigned long long* offset) {
  constexpr int kThreads = 256;
  launch(share_calls, (n - 1) / (4 * kThreads) + 1, kThreads, x, y, static_cast<unsigned>(n), dropout,
         offset);
}
// SKELETON
// /// One thread per element. TODO: one thread, and one call, per four elements.
// __global__ void share_calls(const float* __restrict__ x, float* __restrict__ y, unsigned n, Dropout dropout,
//                             const unsigned long long* offset) {
//   const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//   if (i < n) y[i] = dropout(gelu(x[i]), number<24>(draw(dropout.random, offset, i / 4), i % 4));
// }
//
// /// y = dropout(gelu(x)) for n elements; all pointers are device memory. dropout.random.offset is 0, and
// /// *offset takes its place.
// inline void gelu_dropout(const float* x, float* y, int n, Dropout dropout, const unsigned long long* offset) {
//   constexpr int kThreads = 256;
//   launch(share_calls, (n - 1) / kThreads + 1, kThreads, x, y, static_cast<unsigned>(n), dropout, offset);
// }
// END SOLUTION

}  // namespace DEVICE::gelu_dropout_share_calls
