/// \file
/// Stage 1, the first of six that reduce: one thread per element adds its square to the row's sum.
/// All threads of a row add to the same address, one after the other.
#pragma once
#include "problem.cuh"

namespace DEVICE::relu_layernorm {

/// out[i] = 0: where the sums begin.
__global__ void set_zero(float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.0f;
}

/// squares[r] += the sum of the squares of row r, one thread per element. Reads 4 bytes and makes
/// one atomic addition per element.
__global__ void squares_by_atomics(const float* __restrict__ x, float* __restrict__ squares, int n,
                                   int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&squares[i / columns], x[i] * x[i]);
}

// --- On the host ---

/// Atomic additions to one address happen in any order: one after the other, at worst.
inline int atomic_roundings(const Shape& s) { return s.dims[1]; }

struct Atomic {
  static constexpr Stage row =
      kReducesRows.with({.name = "01_atomic",
                         .idea = "sums of squares: one atomic addition per element",
                         .kernels = 2,
                         .roundings = atomic_roundings,
                         .needs = "at most 16777216 elements: their additions wait for each other"});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    launch(set_zero, ceil_div(s.rows, kThreads), kThreads, data[kSquares], s.rows);
    launch(squares_by_atomics, ceil_div(s.n, kThreads), kThreads, data[kX], data[kSquares], s.n, s.columns);
  }
  static Traffic traffic(const Shape& s) { return {sector_bytes(elements(s)), sector_bytes(rows(s))}; }
  static bool suits(const Shape& s) { return elements(s) <= 1 << 24; }
};

}  // namespace DEVICE::relu_layernorm
