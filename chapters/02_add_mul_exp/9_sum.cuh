/// \file
/// Stage 9: fuse the consumer too. Where only the sum of exp((x + y) * 2) is wanted, as in a softmax, nothing
/// of its terms is ever written. Chapter 01's stage 5 with another function.
#pragma once
#include "4_float4.cuh"

namespace DEVICE::add_mul_exp {

constexpr int kSumThreads = 256;
constexpr int kMostSumBlocks = 1024;

/// The sum of `value` over the threads of the block, in thread 0: a tree in shared memory, whose order is
/// fixed. Every thread of the block must call it.
__device__ inline float block_sum(float value) {
  __shared__ float sums[kSumThreads];
  const unsigned t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
  for (unsigned half = kSumThreads / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  return t == 0 ? sums[0] : 0.0f;
}

/// partial[b] = the sum of exp((x[i] + y[i]) * 2) over the elements of block b; kSumThreads threads per
/// block. Traffic: reads 8 bytes per element, writes one float per block.
__global__ void sum_blocks(const float* __restrict__ x, const float* __restrict__ y,
                           float* __restrict__ partial, int n) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned threads = gridDim.x * blockDim.x;
  const Split at = split<4>(n, x, y);
  const float4* x4 = reinterpret_cast<const float4*>(x + at.head);
  const float4* y4 = reinterpret_cast<const float4*>(y + at.head);

  float sum = 0.0f;
  for (unsigned i = thread; i < at.vectors; i += threads) {
    const float4 a = x4[i], b = y4[i];
    sum += (add_mul_exp(a.x, b.x) + add_mul_exp(a.y, b.y)) + (add_mul_exp(a.z, b.z) + add_mul_exp(a.w, b.w));
  }
  for (unsigned s = thread; s < at.singles(); s += threads)
    sum += add_mul_exp(x[at.single(s)], y[at.single(s)]);

  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

/// sum[0] = the sum of partial[0, count), by one block of kSumThreads threads.
__global__ void sum_partials(const float* __restrict__ partial, float* __restrict__ sum, int count) {
  float mine = 0.0f;
  for (int i = threadIdx.x; i < count; i += kSumThreads) mine += partial[i];
  mine = block_sum(mine);
  if (threadIdx.x == 0) sum[0] = mine;
}

}  // namespace DEVICE::add_mul_exp
