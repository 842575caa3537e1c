/// \file
/// Exercise 08.1, softmax: weights that do not overflow.
///
/// softmax turns a row of scores into weights: p[j] = exp(x[j]) / (the sum of exp(x[k]) over the row). The
/// kernel below computes just that, but exp(89) is larger than any float32, and exp(-104) is 0. The check has
/// rows of scores around 10,000 and around -10,000, rows of equal scores and rows of one score. In some rows,
/// scores are -infinity: these are masked, and their weight is 0. Every row has a finite score.
///
/// The check launches one block per row and tries blocks of 32, 96, 256 and 1024 threads, so the kernel must
/// be right for any multiple of 32 and for any number of columns.
///
/// Goal: each score is read at most three times, so 12 bytes read per element; each weight is written once,
/// so 4 bytes written per element. The rows are shared by the grid.
#pragma once
#include "device.hpp"
#include "sums.hpp"  // block_sum_by_warps() and block_max_by_warps(): over the block, in every thread

namespace DEVICE::attention_softmax {

/// p[r] = softmax(x[r]) of each row r of `columns` scores; one block per row.
__global__ void softmax(const float* __restrict__ x, float* __restrict__ p, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  // BEGIN SOLUTION
  float most = -INFINITY;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) most = fmaxf(most, x[first + j]);
  most = block_max_by_warps(most);
  float sum = 0.0f;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += expf(x[first + j] - most);
  sum = block_sum_by_warps(sum);
  for (int j = threadIdx.x; j < columns; j += blockDim.x) p[first + j] = expf(x[first + j] - most) / sum;
  // SKELETON
  // // TODO: no exponential may overflow, and they must not all become 0.
  // float sum = 0.0f;
  // for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += expf(x[first + j]);
  // sum = block_sum_by_warps(sum);
  // for (int j = threadIdx.x; j < columns; j += blockDim.x) p[first + j] = expf(x[first + j]) / sum;
  // END SOLUTION
}

}  // namespace DEVICE::attention_softmax
