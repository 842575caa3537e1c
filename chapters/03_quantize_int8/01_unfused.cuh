/// \file
/// Stage 1: one kernel per operation, as a library runs q = clamp(round(x / scale + zero_point)). For each
/// byte of the result, four floats are written to memory and read again.
#pragma once
#include "problem.cuh"
#include "quantize.cuh"

namespace DEVICE::quantize_int8 {

// [divide]
/// out[i] = x[i] / scale. Reads 4 bytes and writes 4 bytes per element, like the next three.
__global__ void divide(const float* __restrict__ x, float scale, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] / scale;
}
// [divide]

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

/// out[i] = x[i] clamped to [-128, 127]; a NaN stays a NaN.
__global__ void clamp(const float* __restrict__ x, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] < -128.0f ? -128.0f : x[i] > 127.0f ? 127.0f : x[i];
}

// [convert]
/// q[i] = x[i] as an int8; 0 for a NaN. Reads 4 bytes and writes 1 byte per element.
__global__ void convert(const float* __restrict__ x, signed char* __restrict__ q, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) q[i] = to_int8(x[i] == x[i] ? x[i] : 0.0f);
}
// [convert]

// --- On the host ---

struct Unfused {
  static constexpr Stage row =
      kOneScale.with({.name = "01_unfused",
                      .idea = "five kernels: four floats go through memory for one byte",
                      .kernels = 5});
  static void run(const Data& data) {
    const int n = sizes(data.shape).n;
    const int grid = ceil_div(n, kThreads);
    launch(divide, grid, kThreads, data[kX], kScale, data[kOne], n);
    launch(shift, grid, kThreads, data[kOne], kZeroPoint, data[kOther], n);
    launch(round_to_even, grid, kThreads, data[kOther], data[kOne], n);
    launch(clamp, grid, kThreads, data[kOne], data[kOther], n);
    launch(convert, grid, kThreads, data[kOther], data[kQ], n);
  }
  static Traffic traffic(const Shape& s) {
    const long long floats = sector_bytes(elements(s));
    return {5 * floats, 4 * floats + sector_bytes(elements(s), 1)};
  }
};

}  // namespace DEVICE::quantize_int8
