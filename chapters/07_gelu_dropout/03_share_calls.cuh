/// \file
/// Stage 3: a thread has four elements and gives each of them one of the four numbers of its call.
#pragma once
#include "problem.cuh"

namespace DEVICE::gelu_dropout {

// [share]
/// y[i] = dropout(gelu(x[i])), four elements, one float4 and one Philox call per thread.
/// Traffic: reads 4 bytes and writes 4 bytes per element.
__global__ void share_calls(const float* __restrict__ x, float* __restrict__ y, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const bool aligned = are_aligned(x, y);
  Vector<float> four = load(x, t, n, aligned);
  const uint4 call = dropout.random(t);
#pragma unroll
  for (int j = 0; j < 4; ++j) four.element[j] = dropout(gelu(four.element[j]), number<24>(call, j));
  store(y, t, n, aligned, four);
}
// [share]

// --- On the host ---

struct ShareCalls {
  static constexpr Stage row =
      kForward.with({.name = "03_share_calls", .idea = "one call for four elements", .output = {&kYFour}});
  static void run(const Data& d) {
    const int n = element_count(d);
    launch(share_calls, ceil_div(n, 4 * kThreads), kThreads, d[kX], d[kYFour], static_cast<unsigned>(n),
           dropout_of<24>(d));
  }
  static Traffic traffic(const Shape& s) { return {vector_bytes(s, 4), vector_bytes(s, 4)}; }
};

}  // namespace DEVICE::gelu_dropout
