/// \file
/// Exercise 03.4, one_read: keep the row in registers.
///
/// A block finds its row's scale, and then reads the row again to quantise it. Let each thread keep the
/// elements that it has read: a row has at most kMost = 2048 columns, which are 8 for each of 256 threads.
/// The kernel is always launched with 256 threads per block, and one block per row. The compiler keeps an
/// array in registers if it knows all its indices: loop from 0 to kHeld with `#pragma unroll`.
///
/// Results must be exact, as the skeleton computes them: x divided by the scale, not multiplied by 1 / scale,
/// and rounded to nearest even.
///
/// Goal: 4 bytes read and 1 byte written per element; one scale written per row.
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_one_read {

constexpr int kThreads = 256;
constexpr int kMost = 2048;
constexpr int kHeld = kMost / kThreads;

__device__ inline float larger(float a, float b) { return b > a ? b : a; }

__device__ inline signed char quantized(float x, float scale) {
  const float step = rintf(x / scale);
  const float not_less = step > -128.0f ? step : -128.0f;
  return static_cast<signed char>(not_less < 127.0f ? not_less : 127.0f);
}

/// The largest of `value` over the block, in every thread; all of them must call it.
__device__ inline float block_largest(float value) {
  __shared__ float values[kThreads];
  const unsigned t = threadIdx.x;
  values[t] = value;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) values[t] = larger(values[t], values[t + half]);
    __syncthreads();
  }
  return values[0];
}

/// scales[r] = the largest absolute value of row r over 127, or 1 for a row of zeros; q = x in steps of that.
/// One block of kThreads threads per row, columns <= kMost.
__global__ void quantize_rows(const float* __restrict__ x, float* __restrict__ scales,
                              signed char* __restrict__ q, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  // BEGIN SOLUTION
  float held[kHeld];
  float largest = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int c = threadIdx.x + j * kThreads;
    held[j] = c < columns ? x[first + c] : 0.0f;
    largest = larger(largest, fabsf(held[j]));
  }
  largest = block_largest(largest);
  const float scale = largest > 0.0f ? largest / 127.0f : 1.0f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int c = threadIdx.x + j * kThreads;
    if (c < columns) q[first + c] = quantized(held[j], scale);
  }
  // SKELETON
  // // TODO: read x once.
  // float largest = 0.0f;
  // for (int c = threadIdx.x; c < columns; c += kThreads) largest = larger(largest, fabsf(x[first + c]));
  // largest = block_largest(largest);
  // const float scale = largest > 0.0f ? largest / 127.0f : 1.0f;
  // if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  // for (int c = threadIdx.x; c < columns; c += kThreads) q[first + c] = quantized(x[first + c], scale);
  // END SOLUTION
}

}  // namespace DEVICE::quantize_one_read
