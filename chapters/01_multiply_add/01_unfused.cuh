/// \file
/// Stage 1: one kernel per operation, as a library that runs one operation at a time does it. The product
/// makes a round trip through memory: written by the first kernel, read again by the second.
#pragma once
#include "problem.cuh"

namespace DEVICE::multiply_add {

/// out[i] = a[i] * b[i], one thread per element. Reads 8 bytes and writes 4 bytes per element.
__global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] * b[i];
}

/// out[i] = a[i] + b[i], one thread per element. Reads 8 bytes and writes 4 bytes per element.
__global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                    int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

// --- On the host ---

struct Unfused {
  static constexpr Stage row =
      kElementwise.with({.name = "01_unfused",
                         .idea = "two kernels: the product makes a round trip through memory",
                         .kernels = 2});
  static void run(const Data& data) {
    const int n = length(data.shape);
    launch(multiply, ceil_div(n, kThreads), kThreads, data[kQ], data[kK], data[kProduct], n);
    launch(add, ceil_div(n, kThreads), kThreads, data[kProduct], data[kV], data[kOut], n);
  }
  static Traffic traffic(const Shape& s) {
    return {4 * sector_bytes(elements(s)), 2 * sector_bytes(elements(s))};
  }
};

}  // namespace DEVICE::multiply_add
