/// \file
/// Stage 5: 16 bytes a load, four loads on their way before the first is used, and no more threads than the
/// row has work for. What is summed is a parameter: squares, or absolute values for their mean.
#pragma once
#include "4_shuffles.cuh"

namespace DEVICE::relu_layernorm {

struct Square {
  static __device__ float of(float x) { return x * x; }
};
struct Magnitude {
  static __device__ float of(float x) { return fabsf(x); }
};

template <class Term>
__device__ float sum_of(float x) {
  return Term::of(x);
}
template <class Term>
__device__ float sum_of(float4 x) {
  return (Term::of(x.x) + Term::of(x.y)) + (Term::of(x.z) + Term::of(x.w));
}

/// out[r] = the sum of the terms of row r over `divisor`, one block of whole warps per row. `Vector` is
/// float4, for rows that begin at multiples of 16 bytes, or float. Reads 4 bytes per element.
template <class Term, class Vector>
__global__ void reduce_rows(const float* __restrict__ x, float* __restrict__ out, int columns,
                            float divisor) {
  constexpr int kLoads = 4;
  const Vector* row = reinterpret_cast<const Vector*>(x + static_cast<size_t>(blockIdx.x) * columns);
  const int vectors = columns / static_cast<int>(sizeof(Vector) / sizeof(float)), threads = blockDim.x;
  float sum = 0.0f;
  for (int first = 0; first < vectors; first += kLoads * threads) {
    Vector loaded[kLoads];
#pragma unroll
    for (int j = 0; j < kLoads; ++j) {
      const int i = first + j * threads + threadIdx.x;
      loaded[j] = i < vectors ? row[i] : Vector{};
    }
#pragma unroll
    for (int j = 0; j < kLoads; ++j) sum += sum_of<Term>(loaded[j]);
  }
  sum = block_sum_by_warps(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum / divisor;
}

}  // namespace DEVICE::relu_layernorm
