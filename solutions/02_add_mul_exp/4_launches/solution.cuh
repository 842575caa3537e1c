/// \file
/// Exercise 02.4, launches: predict launches and bytes of pipelines.
///
/// Numbers, not code. For each pipeline below, at n = 278,063: how many kernels it starts, and how many bytes
/// these read and write together for one element, to a tenth of a byte. A float is 4 bytes, a half 2; memory
/// comes in sectors of 32 bytes; all arrays begin at a multiple of 32 bytes. The check counts its own copy of
/// these pipelines, so editing them here changes nothing.
///
/// Goal: all of them as the CPU device counts them.
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_launches {

// BEGIN SOLUTION
constexpr double kUnfusedLaunches = 4;                          // add, scale, exponential, scale
constexpr double kUnfusedBytes = (4 + 4 + 4) + 3 * (4 + 4);     // the sum, and three kernels: in and out
constexpr double kFusedLaunches = 1;                            // one kernel
constexpr double kFusedBytes = 4 + 4 + 4;                       // x, y and out
constexpr double kHalvesBytes = 2 + 2 + 2;                      // the same with 2 bytes each
constexpr double kSlicedLaunches = (278'063 - 1) / 30'000 + 1;  // slices of 30,000, rounded up
constexpr double kSlicedBytes = 4 + 4 + 4;                      // each element once, in one of the slices
constexpr double kTwoResultsLaunches = 1;                       // one kernel stores both
constexpr double kTwoResultsBytes = 4 + 4 + 4 + 4;              // x, y, sum and out
// SKELETON
// constexpr double kUnfusedLaunches = 0;
// constexpr double kUnfusedBytes = 0.0;
// constexpr double kFusedLaunches = 0;
// constexpr double kFusedBytes = 0.0;
// constexpr double kHalvesBytes = 0.0;
// constexpr double kSlicedLaunches = 0;
// constexpr double kSlicedBytes = 0.0;
// constexpr double kTwoResultsLaunches = 0;
// constexpr double kTwoResultsBytes = 0.0;
// END SOLUTION

constexpr int kThreads = 256;
inline int block_count(int n) { return (n - 1) / kThreads + 1; }

__global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                    int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
__global__ void scale(float* __restrict__ a, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= factor;
}
__global__ void exponential(const float* __restrict__ a, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = expf(a[i]);
}

/// Unfused: out = 3 * exp((x + y) * 2), one operation after another, two of them in place.
inline void unfused(const float* x, const float* y, float* between, float* out, int n) {
  launch(add, block_count(n), kThreads, x, y, between, n);
  launch(scale, block_count(n), kThreads, between, 2.0f, n);
  launch(exponential, block_count(n), kThreads, between, out, n);
  launch(scale, block_count(n), kThreads, out, 3.0f, n);
}

/// Fused: the same in one kernel.
template <class T>
__global__ void fused_kernel(const T* __restrict__ x, const T* __restrict__ y, T* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = T(3.0f * expf((float(x[i]) + float(y[i])) * 2.0f));
}
inline void fused(const float* x, const float* y, float* out, int n) {
  launch(fused_kernel<float>, block_count(n), kThreads, x, y, out, n);
}

/// Halves: fused, in half.
inline void halves(const __half* x, const __half* y, __half* out, int n) {
  launch(fused_kernel<__half>, block_count(n), kThreads, x, y, out, n);
}

/// Sliced: fused, at most 30,000 elements per launch.
inline void sliced(const float* x, const float* y, float* out, int n) {
  for (int begin = 0; begin < n; begin += 30'000) {
    const int count = n - begin < 30'000 ? n - begin : 30'000;
    launch(fused_kernel<float>, block_count(count), kThreads, x + begin, y + begin, out + begin, count);
  }
}

/// Two results: the sum is stored too.
__global__ void two_results_kernel(const float* __restrict__ x, const float* __restrict__ y,
                                   float* __restrict__ sum, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  sum[i] = x[i] + y[i];
  out[i] = 3.0f * expf((x[i] + y[i]) * 2.0f);
}
inline void two_results(const float* x, const float* y, float* sum, float* out, int n) {
  launch(two_results_kernel, block_count(n), kThreads, x, y, sum, out, n);
}

}  // namespace DEVICE::add_mul_exp_launches
