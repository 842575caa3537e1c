// a template over the operation, two shared arrays, and names that the specification uses as well
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_tree {

constexpr int kShapes = 1024, kLimits = 32;

struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

template <class Op>
__device__ float reduce(float* scratch, float value, Op op) {
  const unsigned t = threadIdx.x;
  scratch[t] = value;
  __syncthreads();
  unsigned elements = blockDim.x;
  while (elements > kLimits) {  // a whole number of warps until here
    const unsigned warps = elements / 32, kept = (warps + 1) / 2 * 32;
    if (t + kept < elements) scratch[t] = op(scratch[t], scratch[t + kept]);
    __syncthreads();
    elements = kept;
  }
  for (unsigned half = 16; half > 0; half /= 2) {
    if (t < half) scratch[t] = op(scratch[t], scratch[t + half]);
    __syncthreads();
  }
  return scratch[0];
}

__global__ void row_sums(const float* __restrict__ x, float* __restrict__ sums, float* __restrict__ squares,
                         unsigned columns) {
  __shared__ float kArrays[2][kShapes];
  const size_t rows = blockIdx.x;
  float sum = 0.0f, square = 0.0f;
  for (unsigned c = threadIdx.x; c < columns; c += blockDim.x) {
    const float value = x[rows * columns + c];
    sum += value;
    square += value * value;
  }
  const float total = reduce(kArrays[0], sum, Add{});
  const float total_square = reduce(kArrays[1], square, Add{});
  if (threadIdx.x == 0) sums[rows] = total;
  if (threadIdx.x == 0) squares[rows] = total_square;
}

}  // namespace DEVICE::layernorm_tree
