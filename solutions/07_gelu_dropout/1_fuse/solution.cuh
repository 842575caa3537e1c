/// \file
/// Exercise 07.1, fuse: compute y = dropout(gelu(x)) in one kernel.
///
/// To begin with there are three kernels: one draws a mask, one computes GELU, and one applies the mask to
/// it. Write one kernel that does the work of all three, and launch only this one. Then `mask` and
/// `activated` have no use.
///
/// Each element has a Philox call of its own, and uses the first of its four numbers:
///
///     element  0  1  2  3  ...  i
///     call     0  1  2  3  ...  i
///     number   0  0  0  0  ...  0
///
/// So element i gets `number<24>(dropout.random(i), 0)`, a number of 24 bits. It is dropped if that number is
/// less than `dropout.threshold`. The types and functions that you need are in common/kernels/philox.hpp and
/// dropout.hpp.
///
/// Goal: one launch; 4 bytes read and 4 bytes written per element; the work spread over the grid.
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

// BEGIN SOLUTION
/// One thread per element.
__global__ void fused(const float* __restrict__ x, float* __restrict__ y, int n, Dropout dropout) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = dropout(gelu(x[i]), number<24>(dropout.random(i), 0));
}

/// y = dropout(gelu(x)) for n elements; `mask` and `activated` have room for n more. All pointers are
/// device memory.
inline void gelu_dropout(const float* x, signed char*, float*, float* y, int n, Dropout dropout) {
  constexpr int kThreads = 256;
  launch(fused, (n - 1) / kThreads + 1, kThreads, x, y, n, dropout);
}
// SKELETON
// /// mask[i] = 1 where element i stays, 0 where it is dropped.
// __global__ void draw(signed char* __restrict__ mask, int n, Dropout dropout) {
//   const int i = blockIdx.x * blockDim.x + threadIdx.x;
//   if (i < n) mask[i] = !dropout.drops(number<24>(dropout.random(i), 0));
// }
//
// /// activated[i] = gelu(x[i]).
// __global__ void activate(const float* __restrict__ x, float* __restrict__ activated, int n) {
//   const int i = blockIdx.x * blockDim.x + threadIdx.x;
//   if (i < n) activated[i] = gelu(x[i]);
// }
//
// /// y[i] = activated[i] * mask[i] * scale.
// __global__ void apply_mask(const float* __restrict__ activated, const signed char* __restrict__ mask,
//                            float* __restrict__ y, int n, float scale) {
//   const int i = blockIdx.x * blockDim.x + threadIdx.x;
//   if (i < n) y[i] = activated[i] * (mask[i] ? scale : 0.0f);
// }
//
// /// y = dropout(gelu(x)) for n elements; `mask` and `activated` have room for n more. All pointers are
// /// device memory.
// /// TODO: one kernel.
// inline void gelu_dropout(const float* x, signed char* mask, float* activated, float* y, int n,
//                          Dropout dropout) {
//   constexpr int kThreads = 256;
//   const int blocks = (n - 1) / kThreads + 1;
//   launch(draw, blocks, kThreads, mask, n, dropout);
//   launch(activate, blocks, kThreads, x, activated, n);
//   launch(apply_mask, blocks, kThreads, activated, mask, y, n, dropout.scale);
// }
// END SOLUTION

}  // namespace DEVICE::gelu_dropout_fuse
