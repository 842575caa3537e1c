/// \file
/// Stage 5: the same quotients in three instructions each (steps.cuh): multiplied by a reciprocal that is
/// computed once, then corrected. Each thread has two vectors in flight.
#pragma once
#include "03_packed.cuh"
#include "steps.cuh"

namespace DEVICE::quantize_int8 {

constexpr int kCorrectedThreads = 256;

/// q[i] = the int8 of x[i], in blocks of kCorrectedThreads threads with two vectors each, one block
/// width apart; any n, any alignment. Traffic: that of stage 3.
__global__ void corrected(const float* __restrict__ x, Steps by, signed char* __restrict__ q, int n) {
  const Split at = split<4>(n, x, q);
  const float4* x4 = reinterpret_cast<const float4*>(x + at.head);
  char4* q4 = reinterpret_cast<char4*>(q + at.head);
  const unsigned i = 2 * blockIdx.x * kCorrectedThreads + threadIdx.x, j = i + kCorrectedThreads;
  if (j < at.vectors) {
    const float4 one = x4[i], other = x4[j];
    q4[i] = in_steps(one, by);
    q4[j] = in_steps(other, by);
  } else if (i < at.vectors) {
    q4[i] = in_steps(x4[i], by);
  }
  quantize_singles(at, x, by.scale, by.zero_point, q);
}

// --- On the host ---

struct Corrected {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    launch(corrected, ceil_div(a.n, 8 * kCorrectedThreads), kCorrectedThreads, a.x,
           steps_of(kScale, kZeroPoint), a.q, a.n);
  }
  static Traffic traffic(const Shape& s) { return vector_traffic(s, 4); }
};

}  // namespace DEVICE::quantize_int8
