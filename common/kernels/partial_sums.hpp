/// \file
/// For kernels that compute one sum of a whole array: each block leaves a partial sum, and a second, small
/// kernel adds those up.
#pragma once
#include "ceil_div.hpp"
#include "sums.hpp"

namespace DEVICE {

/// Threads of a block in both kernels, and the most blocks of the first.
constexpr int kSumThreads = 256, kMostSumBlocks = 1024;

// [sum_partials]
/// sum[0] = the sum of partial[0, count), by one block of Threads threads.
template <int Threads>
__global__ void sum_partials(const float* __restrict__ partial, float* __restrict__ sum, int count) {
  float mine = 0.0f;
  for (int i = threadIdx.x; i < count; i += Threads) mine += partial[i];
  mine = block_sum<Threads>(mine);
  if (threadIdx.x == 0) sum[0] = mine;
}
// [sum_partials]

// --- On the host ---

/// Blocks of the first kernel for n elements that are loaded in vectors of four.
inline int sum_block_count(int n) {
  const int wanted = ceil_div(n, 4 * kSumThreads);
  return wanted < kMostSumBlocks ? wanted : kMostSumBlocks;
}

}  // namespace DEVICE
