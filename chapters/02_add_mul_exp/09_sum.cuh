/// \file
/// Stage 9: fuse the consumer too. Where only the sum of exp((x + y) * 2) is wanted, as in a softmax, its
/// terms are never written. Chapter 01's stage 5 with another function.
#pragma once
#include "04_float4.cuh"
#include "partial_sums.hpp"

namespace DEVICE::add_mul_exp {

/// partial[b] = the sum of exp((x[i] + y[i]) * 2) over the elements of block b; kSumThreads threads per
/// block. Traffic: reads 8 bytes per element, writes one float per block.
__global__ void sum_blocks(const float* __restrict__ x, const float* __restrict__ y,
                           float* __restrict__ partial, int n) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned threads = gridDim.x * blockDim.x;
  const Split at = split<4>(n, x, y);
  const float4* x4 = reinterpret_cast<const float4*>(x + at.head);
  const float4* y4 = reinterpret_cast<const float4*>(y + at.head);

  // [sum]
  float sum = 0.0f;
  for (unsigned i = thread; i < at.vectors; i += threads) {
    const float4 a = x4[i], b = y4[i];
    sum += (add_mul_exp(a.x, b.x) + add_mul_exp(a.y, b.y)) + (add_mul_exp(a.z, b.z) + add_mul_exp(a.w, b.w));
  }
  for (unsigned s = thread; s < at.singles(); s += threads)
    sum += add_mul_exp(x[at.single(s)], y[at.single(s)]);

  sum = block_sum<kSumThreads>(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  // [sum]
}

// --- On the host ---

/// The longest chain of additions that a term goes through, as in chapter 01: its thread's terms, with up to
/// 2 more inside a vector, the tree (8 levels), and in the second kernel the partial sums of one thread (4)
/// and the tree again (8); and before them the roundings of a term itself.
inline int sum_roundings(const Shape& s) {
  const int threads = sum_block_count(s.dims[0]) * kSumThreads;
  return expf_roundings(s) + (s.dims[0] / threads + 1) + 2 + 8 + kMostSumBlocks / kSumThreads + 8;
}

/// On exact inputs the sum must be equal.
inline int exact_sum_roundings(const Shape&) { return 0; }

struct Sum {
  static constexpr Stage row = {.name = "09_sum",
                                .idea = "only the sum is wanted: the terms are never written",
                                .output = {&kSum},
                                .kernels = 2,
                                .roundings = sum_roundings,
                                .exact_roundings = exact_sum_roundings};
  static void run(const Data& data) {
    const int n = length(data.shape);
    const int count = sum_block_count(n);
    launch(sum_blocks, count, kSumThreads, data[kX], data[kY], data[kPartial], n);
    launch(sum_partials<kSumThreads>, 1, kSumThreads, data[kPartial], data[kSum], count);
  }
  /// Each block stores one float, which costs the sector that holds it.
  static Traffic traffic(const Shape& s) {
    const int count = sum_block_count(s.dims[0]);
    return {2 * vector_bytes(s, 4, 4) + sector_bytes(count), count * sector_bytes(1) + sector_bytes(1), 0,
            count * sector_bytes(1) - sector_bytes(count)};
  }
};

}  // namespace DEVICE::add_mul_exp
