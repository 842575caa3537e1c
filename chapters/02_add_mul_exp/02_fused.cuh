/// \file
/// Stage 2: one kernel for the whole expression. Both intermediates stay in registers.
#pragma once
#include "problem.cuh"

namespace DEVICE::add_mul_exp {

/// out[i] = exp((x[i] + y[i]) * 2), one thread per element.
/// Traffic: reads 8 bytes and writes 4 bytes per element, in one launch.
__global__ void fused(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
                      int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = expf((x[i] + y[i]) * 2.0f);
}

// --- On the host ---

struct Fused {
  static constexpr Stage row =
      kElementwise.with({.name = "02_fused", .idea = "one kernel: the intermediates stay in registers"});
  static void run(const Data& data) {
    const int n = length(data.shape);
    launch(fused, ceil_div(n, kThreads), kThreads, data[kX], data[kY], data[kOut], n);
  }
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
};

}  // namespace DEVICE::add_mul_exp
