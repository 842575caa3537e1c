/// \file
/// Stage 1: one kernel per operation, as a library runs q = clamp(round(x / scale + zero_point)). Four floats
/// make a round trip through memory for the one byte that is wanted.
#pragma once
#include "quantize.cuh"

namespace DEVICE::quantize_int8 {

/// out[i] = x[i] / scale. Reads 4 bytes and writes 4 bytes per element, as the next three.
__global__ void divide(const float* __restrict__ x, float scale, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] / scale;
}

/// out[i] = x[i] + zero_point.
__global__ void shift(const float* __restrict__ x, float zero_point, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + zero_point;
}

/// out[i] = x[i] rounded to a whole number, to even in the middle.
__global__ void round_to_even(const float* __restrict__ x, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = rintf(x[i]);
}

/// out[i] = x[i] clamped to [-128, 127]; a NaN stays one.
__global__ void clamp(const float* __restrict__ x, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] < -128.0f ? -128.0f : x[i] > 127.0f ? 127.0f : x[i];
}

/// q[i] = x[i] as an int8, of a NaN 0. Reads 4 bytes and writes 1 byte per element.
__global__ void convert(const float* __restrict__ x, signed char* __restrict__ q, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) q[i] = to_int8(x[i] == x[i] ? x[i] : 0.0f);
}

}  // namespace DEVICE::quantize_int8
