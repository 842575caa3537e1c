/// \file
/// Exercise 05.1, coalesce: a matrix product whose loads are whole sectors.
///
/// Each warp computes one element of x * w^T, the dot product of a row of x and a row of w. In the code below
/// its first lane does all of the work, and each of its loads uses one word of a sector. Divide the work
/// among the lanes: which elements should 32 neighbouring lanes load at a time?
///
/// Goal: at most 8 bytes read for each multiplication, in at most one request to x and one to w for 32
/// multiplications. The work is spread over the grid.
#pragma once
#include "device.hpp"

namespace DEVICE::linear_coalesce {

/// product = x * w^T: x is m x k, w is n x k, product is m x n, row by row. Blocks of 32 x 8 threads: lane
/// threadIdx.x of warp threadIdx.y; blockIdx.x is the row, blockIdx.y counts groups of eight
/// columns.
__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  const size_t row = blockIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n) return;
  const float *x_row = x + row * k, *w_row = w + static_cast<size_t>(column) * k;
  float sum = 0.0f;
  // BEGIN SOLUTION
  for (int i = threadIdx.x; i < k; i += 32) sum += x_row[i] * w_row[i];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  // SKELETON
  // // TODO: all lanes take part, and then add up their sums.
  // if (threadIdx.x == 0)
  //   for (int i = 0; i < k; ++i) sum += x_row[i] * w_row[i];
  // END SOLUTION
  if (threadIdx.x == 0) product[row * n + column] = sum;
}

}  // namespace DEVICE::linear_coalesce
