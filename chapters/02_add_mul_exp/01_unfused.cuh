/// \file
/// Stage 1: one kernel per operation. Two intermediates make a round trip through memory.
#pragma once
#include "problem.cuh"

namespace DEVICE::add_mul_exp {

/// out[i] = a[i] + b[i], one thread per element. Reads 8 bytes and writes 4 bytes per element.
__global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                    int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

/// out[i] = 2 * a[i], one thread per element. Reads 4 bytes and writes 4 bytes per element.
__global__ void twice(const float* __restrict__ a, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * a[i];
}

/// out[i] = exp(a[i]), one thread per element. Reads 4 bytes and writes 4 bytes per element.
__global__ void exponential(const float* __restrict__ a, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = expf(a[i]);
}

// --- On the host ---

struct Unfused {
  static constexpr Stage row = kElementwise.with(
      {.name = "01_unfused", .idea = "three kernels: two intermediates go through memory", .kernels = 3});
  static void run(const Data& data) {
    const int n = length(data.shape);
    launch(add, ceil_div(n, kThreads), kThreads, data[kX], data[kY], data[kAdded], n);
    launch(twice, ceil_div(n, kThreads), kThreads, data[kAdded], data[kDoubled], n);
    launch(exponential, ceil_div(n, kThreads), kThreads, data[kDoubled], data[kOut], n);
  }
  static Traffic traffic(const Shape& s) {
    return {4 * sector_bytes(elements(s)), 3 * sector_bytes(elements(s))};
  }
};

}  // namespace DEVICE::add_mul_exp
