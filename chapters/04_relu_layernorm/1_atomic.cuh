/// \file
/// Stage 1, the first of six that reduce: a thread for each element, which adds its square to the row's sum.
/// All threads of a row want the same address, one after the other.
#pragma once
#include "device.hpp"

namespace DEVICE::relu_layernorm {

/// out[i] = 0, for what is added to.
__global__ void set_zero(float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.0f;
}

/// squares[r] += the sum of the squares of row r, one thread per element. Reads 4 bytes per element, and has
/// an atomic addition for each.
__global__ void squares_by_atomics(const float* __restrict__ x, float* __restrict__ squares, int n,
                                   int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&squares[i / columns], x[i] * x[i]);
}

}  // namespace DEVICE::relu_layernorm
