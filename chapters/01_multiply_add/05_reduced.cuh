/// \file
/// Stage 5: fuse the consumer too. If all that is wanted of q * k + v is its sum, the array need never be
/// written: each block keeps a sum, and a second small kernel adds those up.
#pragma once
#include "03_float4.cuh"
#include "partial_sums.hpp"

namespace DEVICE::multiply_add {

// [tree]
/// The sum of `value` over the Threads threads of the block, a power of two, in thread 0; every thread of the
/// block must call it. A tree in shared memory: half of the threads add, then a quarter, and so on. The order
/// is fixed, so the result is the same to the bit in every run.
template <int Threads>
__device__ inline float tree_sum(float value) {
  __shared__ float sums[Threads];
  const unsigned t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
  for (unsigned half = Threads / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  return t == 0 ? sums[0] : 0.0f;
}
// [tree]

/// partial[b] = the sum of q[i] * k[i] + v[i] over the elements of block b; kSumThreads threads per block.
/// Traffic: reads 12 bytes per element, writes one float per block.
__global__ void sum_blocks(const float* __restrict__ q, const float* __restrict__ k,
                           const float* __restrict__ v, float* __restrict__ partial, int n) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned threads = gridDim.x * blockDim.x;
  const Split at = split(q, k, v, q, n);
  const float4* q4 = reinterpret_cast<const float4*>(q + at.head);
  const float4* k4 = reinterpret_cast<const float4*>(k + at.head);
  const float4* v4 = reinterpret_cast<const float4*>(v + at.head);

  // [sum]
  float sum = 0.0f;
  for (unsigned i = thread; i < at.vectors; i += threads) {
    const float4 r = multiply_add(q4[i], k4[i], v4[i]);
    sum += (r.x + r.y) + (r.z + r.w);
  }
  const unsigned singles = n - 4 * at.vectors;
  for (unsigned s = thread; s < singles; s += threads) {
    const unsigned i = s < at.head ? s : s + 4 * at.vectors;
    sum += q[i] * k[i] + v[i];
  }

  sum = tree_sum<kSumThreads>(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  // [sum]
}

// --- On the host ---

/// The longest chain of additions that a term of the sum goes through: the element itself (2), its thread's
/// elements (at most n / threads + 1, with up to 2 more inside a vector), the tree (8 levels), and in the
/// second kernel the partial sums of one thread (4) and the tree again (8). A sum is off by at most that many
/// roundings of the sum of the terms' absolute values (N. Higham, Accuracy and Stability of Numerical
/// Algorithms, section 4.2). Since each thread's share grows with n, so does the bound: a term that is left
/// out of a million shows on exact inputs alone.
inline int sum_roundings(const Shape& s) {
  const int threads = sum_block_count(s.dims[0]) * kSumThreads;
  return 2 + (s.dims[0] / threads + 1) + 2 + 8 + kMostSumBlocks / kSumThreads + 8;
}

/// On exact inputs the sum must be equal.
inline int exact_sum_roundings(const Shape&) { return 0; }

struct Reduced {
  static constexpr Stage row = {.name = "05_reduced",
                                .idea = "only the sum is wanted: the output is never written",
                                .output = {&kSum},
                                .kernels = 2,
                                .roundings = sum_roundings,
                                .exact_roundings = exact_sum_roundings};
  static void run(const Data& data) {
    const int n = length(data.shape);
    const int count = sum_block_count(n);
    launch(sum_blocks, count, kSumThreads, data[kQ], data[kK], data[kV], data[kPartial], n);
    launch(sum_partials<kSumThreads>, 1, kSumThreads, data[kPartial], data[kSum], count);
  }
  /// Each block stores one float, which costs the sector that holds it.
  static Traffic traffic(const Shape& s) {
    const int count = sum_block_count(s.dims[0]);
    return {3 * vector_bytes(s) + sector_bytes(count), count * sector_bytes(1) + sector_bytes(1), 0,
            count * sector_bytes(1) - sector_bytes(count)};
  }
};

}  // namespace DEVICE::multiply_add
