/// \file
/// Stage 5: 16 bytes a load, four loads on their way before the first is used, and no more threads than the
/// row has work for.
#pragma once
#include "4_shuffles.cuh"

namespace DEVICE::relu_layernorm {

__device__ inline float squares_of(float x) { return x * x; }
__device__ inline float squares_of(float4 x) { return (x.x * x.x + x.y * x.y) + (x.z * x.z + x.w * x.w); }

/// squares[r] = the sum of the squares of row r, one block of whole warps per row. `Vector` is float4, for
/// rows that begin at multiples of 16 bytes, or float. Reads 4 bytes per element.
template <class Vector>
__global__ void squares_by_vectors(const float* __restrict__ x, float* __restrict__ squares, int columns) {
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
    for (int j = 0; j < kLoads; ++j) sum += squares_of(loaded[j]);
  }
  sum = block_sum_by_warps(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

}  // namespace DEVICE::relu_layernorm
