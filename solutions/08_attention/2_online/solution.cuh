/// \file
/// Exercise 08.2, online: maximum and sum in one pass.
///
/// A stable softmax needs two numbers of each row: its maximum, and the sum of exp(score - maximum). The
/// kernel below reads the row once for each. Find both in one pass: when a larger score arrives, multiply the
/// sum so far by a factor that makes it relative to the new maximum. At the end merged() joins the numbers of
/// two threads; it forgets that their sums may be relative to different maxima.
///
/// The check has rows of scores around 10,000 and around -10,000, equal scores, and rows in which the maximum
/// grows all along. Some scores are -infinity: these are masked and add 0. A thread may have masked scores
/// only, or none at all; every row has a finite score. The check launches one block per row and tries blocks
/// of 32, 96, 256 and 1024 threads, so the kernel must be right for any multiple of 32.
///
/// Goal: each score is read once, so 4 bytes read per element; no atomics. The rows are shared by the grid.
#pragma once
#include "device.hpp"

namespace DEVICE::attention_online {

/// The largest of some scores, and the sum of exp(score - most) over them; without scores -infinity and 0.
struct Partial {
  float most, sum;
};

/// The same for the scores of `a` and of `b` together.
__device__ inline Partial merged(Partial a, Partial b) {
  const float most = fmaxf(a.most, b.most);
  // BEGIN SOLUTION
  if (most == -INFINITY) return {most, 0.0f};  // -infinity - -infinity is NaN
  return {most, a.sum * expf(a.most - most) + b.sum * expf(b.most - most)};
  // SKELETON
  // // TODO: a.sum is relative to a.most, b.sum to b.most, and the result must be relative to `most`.
  // return {most, a.sum + b.sum};
  // END SOLUTION
}

/// merged() of all threads of the block, in thread 0; every thread must call it.
__device__ inline Partial block_merged(Partial partial) {
  __shared__ Partial of_warps[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    partial = merged(partial, {__shfl_xor_sync(0xffffffffu, partial.most, distance),
                               __shfl_xor_sync(0xffffffffu, partial.sum, distance)});
  if (lane == 0) of_warps[warp] = partial;
  __syncthreads();
  if (threadIdx.x == 0)
    for (unsigned w = 1; w < blockDim.x / 32; ++w) partial = merged(partial, of_warps[w]);
  return partial;
}

/// most[r] = the largest score of row r of x, sum[r] = the sum of exp(x[r][j] - most[r]) over its `columns`
/// scores; one block per row.
__global__ void largest_and_sum(const float* __restrict__ x, float* __restrict__ most,
                                float* __restrict__ sum, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  Partial partial = {-INFINITY, 0.0f};
  // BEGIN SOLUTION
  for (int j = threadIdx.x; j < columns; j += blockDim.x) partial = merged(partial, {row[j], 1.0f});
  // SKELETON
  // // TODO: one pass.
  // for (int j = threadIdx.x; j < columns; j += blockDim.x) partial.most = fmaxf(partial.most, row[j]);
  // for (int j = threadIdx.x; j < columns; j += blockDim.x) partial.sum += expf(row[j] - partial.most);
  // END SOLUTION
  partial = block_merged(partial);
  if (threadIdx.x == 0) {
    most[blockIdx.x] = partial.most;
    sum[blockIdx.x] = partial.sum;
  }
}

}  // namespace DEVICE::attention_online
