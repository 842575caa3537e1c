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

struct Atomic {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    launch(set_zero, ceil_div(a.rows, kThreads), kThreads, a.squares, a.rows);
    launch(squares_by_atomics, ceil_div(a.n, kThreads), kThreads, a.x, a.squares, a.n, a.columns);
  }
  static Traffic traffic(const Shape& s) { return {sector_bytes(elements(s)), sector_bytes(rows(s))}; }
  static bool suits(const Shape& s) { return elements(s) <= 1 << 24; }
};

/// Atomic additions to one address happen in any order: one after the other, at worst.
inline int atomic_roundings(const Shape& s) { return s.dims[1]; }

}  // namespace DEVICE::relu_layernorm
