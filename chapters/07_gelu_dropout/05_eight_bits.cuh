/// \file
/// Stage 5: 8 bits for each element, so that a call is enough for sixteen. p is then a multiple of 1/256: 0.1
/// becomes 26/256, which is 0.1016.
#pragma once
#include "problem.cuh"

namespace DEVICE::gelu_dropout {

/// y[i] = dropout(gelu(x[i])), four float4 and one Philox call per thread; a lane's vectors are 32 apart, as
/// in stage 4. Traffic: reads 4 bytes and writes 4 bytes per element.
__global__ void eight_bits(const float* __restrict__ x, float* __restrict__ y, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned warp = t / 32, lane = t % 32;
  const unsigned first = 128 * warp + lane;
  const bool aligned = are_aligned(x, y);
  Vector<float> vectors[4];
#pragma unroll
  for (int v = 0; v < 4; ++v) vectors[v] = load(x, first + 32 * v, n, aligned);
  const uint4 call = dropout.random(t);
#pragma unroll
  for (int v = 0; v < 4; ++v)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float& element = vectors[v].element[j];
      element = dropout(gelu(element), number<8>(call, 4 * v + j));
    }
#pragma unroll
  for (int v = 0; v < 4; ++v) store(y, first + 32 * v, n, aligned, vectors[v]);
}

// --- On the host ---

struct EightBits {
  static constexpr Stage row = kForward.with({.name = "05_eight_bits",
                                              .idea = "one call for sixteen; p is a multiple of 1/256",
                                              .output = {&kYSixteen}});
  static void run(const Data& d) {
    const int n = element_count(d);
    launch(eight_bits, ceil_div(n, 16 * kThreads), kThreads, d[kX], d[kYSixteen], static_cast<unsigned>(n),
           dropout_of<8>(d));
  }
  static Traffic traffic(const Shape& s) { return {vector_bytes(s, 4), vector_bytes(s, 4)}; }
};

}  // namespace DEVICE::gelu_dropout
