/// \file
/// Stage 2: one kernel. Each thread draws the number that it needs, so there is no mask in memory.
#pragma once
#include "problem.cuh"

namespace DEVICE::gelu_dropout {

// [fused]
/// y[i] = dropout(gelu(x[i])), one thread and one Philox call per element, of whose four numbers three are
/// thrown away. Traffic: reads 4 bytes and writes 4 bytes per element.
__global__ void fused(const float* __restrict__ x, float* __restrict__ y, int n, Dropout dropout) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = dropout(gelu(x[i]), number<24>(dropout.random(i), 0));
}
// [fused]

// --- On the host ---

struct Fused {
  static constexpr Stage row = kForward.with(
      {.name = "02_fused", .idea = "one kernel, one Philox call per element", .output = {&kYOne}});
  static void run(const Data& d) {
    const int n = element_count(d);
    launch(fused, ceil_div(n, kThreads), kThreads, d[kX], d[kYOne], n, dropout_of<24>(d));
  }
  static Traffic traffic(const Shape& s) { return {sector_bytes(elements(s)), sector_bytes(elements(s))}; }
};

}  // namespace DEVICE::gelu_dropout
