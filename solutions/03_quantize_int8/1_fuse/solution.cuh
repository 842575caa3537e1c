/// \file
/// Exercise 03.1, fuse: quantise to int8 in one kernel.
///
/// q = clamp(round(x / scale + zero_point), -128, 127), rounded to nearest even, exactly: divide, do not
/// multiply by 1 / scale. A NaN becomes 0. A float outside of [-128, 127] must be clamped before it is
/// converted. To begin with there are two kernels.
///
/// Goal: one launch; 4 bytes read and 1 byte written per element; the work spread over the grid.
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_fuse {

// BEGIN SOLUTION
__global__ void fused(const float* __restrict__ x, float scale, float zero_point, signed char* __restrict__ q,
                      int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float step = rintf(x[i] / scale + zero_point);
  const float number = step == step ? step : 0.0f;
  q[i] = static_cast<signed char>(fminf(fmaxf(number, -128.0f), 127.0f));
}

/// q = x in steps of `scale`; `between` has room for n floats. All pointers are device memory.
inline void quantize(const float* x, float scale, float zero_point, float*, signed char* q, int n) {
  constexpr int kThreads = 256;
  launch(fused, (n - 1) / kThreads + 1, kThreads, x, scale, zero_point, q, n);
}
// SKELETON
// __global__ void steps(const float* __restrict__ x, float scale, float zero_point, float* __restrict__ out,
//                       int n) {
//   const int i = blockIdx.x * blockDim.x + threadIdx.x;
//   if (i < n) out[i] = rintf(x[i] / scale + zero_point);
// }
//
// __global__ void convert(const float* __restrict__ steps, signed char* __restrict__ q, int n) {
//   const int i = blockIdx.x * blockDim.x + threadIdx.x;
//   if (i >= n) return;
//   const float number = steps[i] == steps[i] ? steps[i] : 0.0f;
//   q[i] = static_cast<signed char>(fminf(fmaxf(number, -128.0f), 127.0f));
// }
//
// /// q = x in steps of `scale`; `between` has room for n floats. All pointers are device memory.
// /// TODO: one kernel.
// inline void quantize(const float* x, float scale, float zero_point, float* between, signed char* q, int n) {
//   constexpr int kThreads = 256;
//   launch(steps, (n - 1) / kThreads + 1, kThreads, x, scale, zero_point, between, n);
//   launch(convert, (n - 1) / kThreads + 1, kThreads, between, q, n);
// }
// END SOLUTION

}  // namespace DEVICE::quantize_fuse
