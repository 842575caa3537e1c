/// \file
/// Exercise 04.6, layernorm_relu: the sibling, a whole kernel.
///
/// y = relu((x - mean) / sqrt(variance + epsilon) * weight + bias) of each row, where mean and variance are
/// those of x itself: ReLU comes last here. The variance is divided by the number of columns. How you do it
/// is yours to choose: any number of columns, one block of kThreads threads per row. block_sum() is given.
///
/// Goal: one launch; x, weight and bias once from DRAM; requests for at most three times x.
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_then_relu {

constexpr int kThreads = 256;

/// The sum of `value` over the threads of the block, in all of them; every thread must call it.
__device__ inline float block_sum(float value) {
  __shared__ float sums[kThreads];
  const unsigned t = threadIdx.x;
  __syncthreads();
  sums[t] = value;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  return sums[0];
}

/// y of row blockIdx.x.
__global__ void layernorm_relu(const float* __restrict__ x, const float* __restrict__ weight,
                               const float* __restrict__ bias, float* __restrict__ y, int columns,
                               float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  // TODO: mean, variance, scale and shift, ReLU.
  for (int c = threadIdx.x; c < columns; c += kThreads) y[first + c] = x[first + c];
}

}  // namespace DEVICE::layernorm_then_relu
