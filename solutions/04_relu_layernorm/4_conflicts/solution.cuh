/// \file
/// Exercise 04.4, conflicts: 32 lanes in one bank.
///
/// The sum of each row. The check launches a block of 32 x 8 threads for each 32 rows, so the rows are shared
/// by the grid. A block reads its rows in tiles of 32 x 32, and each warp loads 32 elements of one row at a
/// time, so the loads are coalesced. Then one warp adds: lane t walks along row t of the tile. In each step
/// its lanes read words that are 32 apart, all in one bank: 32 wavefronts per request. Remove these
/// conflicts, and keep the loads from x coalesced.
///
/// Goal: every element read once; no atomics; at most 80 wavefronts of shared memory per tile. Without bank
/// conflicts there are 64: one for each of 32 stores and 32 loads.
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_conflicts {

constexpr int kTile = 32, kTileRows = 8;  // blocks of kTile x kTileRows threads

/// sums[r] = the sum of row r.
__global__ void sum_rows(const float* __restrict__ x, float* __restrict__ sums, int rows, int columns) {
  // BEGIN SOLUTION
  __shared__ float tile[kTile][kTile + 1];  // the rows of the tile begin in different banks
  // SKELETON
  // // TODO: lane t adds up row t, and tile[t][k] is in the same bank for all t.
  // __shared__ float tile[kTile][kTile];
  // END SOLUTION
  const int first_row = blockIdx.x * kTile, t = threadIdx.x;
  float sum = 0.0f;
  for (int left = 0; left < columns; left += kTile) {
    for (int r = threadIdx.y; r < kTile; r += kTileRows) {
      const bool inside = first_row + r < rows && left + t < columns;
      tile[r][t] = inside ? x[static_cast<size_t>(first_row + r) * columns + left + t] : 0.0f;
    }
    __syncthreads();
    if (threadIdx.y == 0)
      for (int k = 0; k < kTile; ++k) sum += tile[t][k];
    __syncthreads();
  }
  if (threadIdx.y == 0 && first_row + t < rows) sums[first_row + t] = sum;
}

}  // namespace DEVICE::layernorm_conflicts
