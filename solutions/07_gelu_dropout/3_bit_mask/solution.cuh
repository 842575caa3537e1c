/// \file
/// Exercise 07.3, bit_mask: save one bit per element for the backward pass.
///
/// To begin with, the kernel computes y, but saves nothing. Each lane has one element, and a Philox call of
/// its own:
///
///     element  0  1  2  3  ...  i
///     call     0  1  2  3  ...  i
///     number   0  0  0  0  ...  0
///
/// So element i gets `number<24>(dropout.random(i), 0)`. The mask is an array of words of 32 bits:
///
///     word     0              1               2               ...  i / 32
///     of       0 to 31        32 to 63        64 to 95        ...
///     bit      0, 1, ..., 31  0, 1, ..., 31   0, 1, ..., 31   ...  i % 32
///
/// A bit is 1 where the element stays, also if y is 0 there, and 0 where it is dropped. n need not be a
/// multiple of 32: there are (n + 31) / 32 words, and the bits of the last one that have no element are 0.
///
/// A thread cannot store a single bit. Let the lanes vote: `__ballot_sync(0xffffffffu, kept)` returns to each
/// lane a word whose bit L is 1 if lane L passed true. All 32 lanes must take part.
///
/// Goal: one launch, with the work spread over the grid; no atomics. For 32 elements one load request and two
/// store requests, one for y and one for the word. 4 bytes are read per element. 5 are counted as written,
/// because the store of a single word touches a sector of 32 bytes; memory gets 4 1/8 of them, because the L2
/// cache puts the words of a sector together.
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

// BEGIN SOLUTION
/// One lane per element, and one word per warp. The lanes beyond the last element vote 0.
__global__ void forward(const float* __restrict__ x, float* __restrict__ y, unsigned* __restrict__ mask,
                        unsigned n, Dropout dropout) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned drawn = number<24>(dropout.random(i), 0);
  const bool kept = i < n && !dropout.drops(drawn);
  const unsigned word = __ballot_sync(0xffffffffu, kept);
  if (i < n) y[i] = dropout(gelu(x[i]), drawn);
  if (i < n && i % 32 == 0) mask[i / 32] = word;
}
// SKELETON
// /// One lane per element. TODO: store the mask.
// __global__ void forward(const float* __restrict__ x, float* __restrict__ y, unsigned* __restrict__ mask,
//                         unsigned n, Dropout dropout) {
//   const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//   if (i >= n) return;
//   y[i] = dropout(gelu(x[i]), number<24>(dropout.random(i), 0));
// }
// END SOLUTION

/// y = dropout(gelu(x)) for n elements, and `mask`, (n + 31) / 32 words. All pointers are device memory.
inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  constexpr int kThreads = 256;
  launch(forward, (n - 1) / kThreads + 1, kThreads, x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
