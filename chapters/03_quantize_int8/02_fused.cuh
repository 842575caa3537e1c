/// \file
/// Stage 2: one kernel. 5 bytes per element instead of 37.
#pragma once
#include "problem.cuh"
#include "quantize.cuh"

namespace DEVICE::quantize_int8 {

/// q[i] = the int8 of x[i], one thread per element. Traffic: reads 4 bytes and writes 1 byte per element.
__global__ void fused(const float* __restrict__ x, float scale, float zero_point, signed char* __restrict__ q,
                      int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) q[i] = to_int8(quantized(x[i], scale, zero_point));
}

// --- On the host ---

struct Fused {
  static constexpr Stage row = kOneScale.with({.name = "02_fused", .idea = "one kernel"});
  static void run(const Data& data) {
    const int n = sizes(data.shape).n;
    launch(fused, ceil_div(n, kThreads), kThreads, data[kX], kScale, kZeroPoint, data[kQ], n);
  }
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
};

}  // namespace DEVICE::quantize_int8
