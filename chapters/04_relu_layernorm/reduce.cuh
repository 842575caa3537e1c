/// \file
/// For the kernels of this chapter: a block's sum by a tree in shared memory (stage 3), and mean and squared
/// distances of numbers that are merged (stage 9). Sums by shuffles are in common/kernels/sums.hpp.
#pragma once
#include "problem.cuh"

namespace DEVICE::relu_layernorm {

// [block sum]
/// The sum of `value` over the threads of the block, in all of them; every thread must call it. A block of
/// kRowThreads threads. It can be called again at once.
__device__ inline float block_sum(float value) {
  __shared__ float sums[kRowThreads];
  const unsigned t = threadIdx.x;
  __syncthreads();  // every thread has read the sum of an earlier call
  sums[t] = value;
  __syncthreads();
  for (unsigned half = kRowThreads / 2; half > 0; half /= 2) {
    if (t < half) {
      value += sums[t + half];
      sums[t] = value;
    }
    __syncthreads();
  }
  return sums[0];
}
// [block sum]

// [moments]
/// Of `count` numbers: their mean, and the sum of the squares of their distances from it.
struct Moments {
  float count, mean, squares;
};

/// The moments with one more number.
__device__ inline Moments with(Moments m, float x) {
  const float count = m.count + 1.0f, distance = x - m.mean;
  const float mean = m.mean + distance / count;
  return {count, mean, m.squares + distance * (x - mean)};
}

/// The moments of both sets of numbers together. An empty set has mean 0.
__device__ inline Moments merged(Moments a, Moments b) {
  const float count = a.count + b.count, distance = b.mean - a.mean;
  const float share = b.count == 0.0f ? 0.0f : b.count / count;
  const float gap = a.count == 0.0f ? 0.0f : distance * distance * a.count * share;
  return {count, a.mean + distance * share, a.squares + b.squares + gap};
}
// [moments]

}  // namespace DEVICE::relu_layernorm
