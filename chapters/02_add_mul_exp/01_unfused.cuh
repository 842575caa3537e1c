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
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    launch(add, ceil_div(a.n, kThreads), kThreads, a.x, a.y, a.added, a.n);
    launch(twice, ceil_div(a.n, kThreads), kThreads, a.added, a.doubled, a.n);
    launch(exponential, ceil_div(a.n, kThreads), kThreads, a.doubled, a.out, a.n);
  }
  static Traffic traffic(const Shape& s) {
    return {4 * sector_bytes(elements(s)), 3 * sector_bytes(elements(s))};
  }
};

}  // namespace DEVICE::add_mul_exp
