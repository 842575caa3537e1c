/// \file
/// Stage 13: a CUDA graph repeats its launches with the arguments that they were recorded with. So the offset
/// is read from memory, where the program sets another one before each replay.
#pragma once
#include "04_sixteen_bits.cuh"

namespace DEVICE::gelu_dropout {

// [graph]
/// y[i] = dropout(gelu(x[i])), as stage 4, with the offset in offset[0] (lower half) and offset[1].
/// Traffic: reads 4 bytes and writes 4 bytes per element; each warp reads the offset, from a cache.
__global__ void forward_of_graph(const float* __restrict__ x, float* __restrict__ y, unsigned n,
                                 Dropout dropout, const uint2* __restrict__ offset) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = EightNumbers::first_vector(t);
  const bool aligned = are_aligned(x, y);
  const uint2 halves = *offset;
  dropout.random.offset = static_cast<unsigned long long>(halves.y) << 32 | halves.x;
  Vector<float> values[2] = {load(x, first, n, aligned), load(x, first + 32, n, aligned)};
  const uint4 call = dropout.random(t);
#pragma unroll
  for (int v = 0; v < 2; ++v) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
      values[v].element[j] = dropout(gelu(values[v].element[j]), number<16>(call, 4 * v + j));
    store(y, first + 32 * v, n, aligned, values[v]);
  }
}
// [graph]

// --- On the host ---

struct Graph {
  static constexpr Stage row =
      kForward.with({.name = "13_graph",
                     .idea = "the offset comes from memory, so a graph draws new numbers",
                     .output = {&kY}});
  static void run(const Data& d) {
    const int n = element_count(d);
    Dropout dropout = dropout_of<16>(d);
    dropout.random.offset = 0;
    launch(forward_of_graph, ceil_div(n, 8 * kThreads), kThreads, d[kX], d[kY], static_cast<unsigned>(n),
           dropout, reinterpret_cast<const uint2*>(d[kOffset]));
  }
  static Traffic traffic(const Shape& s) {
    const long long warps = kThreads / 32 * ((elements(s) + 8 * kThreads - 1) / (8 * kThreads));
    return {vector_bytes(s, 4) + 32 * warps, vector_bytes(s, 4), 32 * (warps - 1)};
  }
};

}  // namespace DEVICE::gelu_dropout
