/// \file
/// Stage 2: one kernel for the whole expression. The product never leaves a register.
#pragma once
#include "problem.cuh"

namespace DEVICE::multiply_add {

/// out[i] = q[i] * k[i] + v[i], one thread per element.
/// Traffic: reads 12 bytes and writes 4 bytes per element, in one launch.
__global__ void fused(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                      float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = q[i] * k[i] + v[i];
}

// --- On the host ---

struct Fused {
  static constexpr Stage row =
      kElementwise.with({.name = "02_fused", .idea = "one kernel: the product stays in a register"});
  static void run(const Data& data) {
    const int n = length(data.shape);
    launch(fused, ceil_div(n, kThreads), kThreads, data[kQ], data[kK], data[kV], data[kOut], n);
  }
  static Traffic traffic(const Shape& s) {
    return {3 * sector_bytes(elements(s)), sector_bytes(elements(s))};
  }
};

}  // namespace DEVICE::multiply_add
