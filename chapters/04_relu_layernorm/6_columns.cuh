/// \file
/// Stage 6: along the other dimension, the mean of the absolute values of each column. Lanes lie side by side
/// in a row, each with a column of its own, so that loads stay coalesced and no lane adds for another. Where
/// there are few columns, blocks share out the rows as well.
#pragma once
#include "device.hpp"

namespace DEVICE::relu_layernorm {

constexpr int kTileColumns = 32, kTileRows = 8;

/// partial[s * columns + c] = the sum of the absolute values of column c over slice s of the rows: gridDim.y
/// slices, blocks of kTileColumns x kTileRows threads. Reads 4 bytes per element.
__global__ void sum_column_slices(const float* __restrict__ x, float* __restrict__ partial, int rows,
                                  int columns) {
  __shared__ float tile[kTileRows][kTileColumns];
  const int c = blockIdx.x * kTileColumns + threadIdx.x;
  float sum = 0.0f;
  if (c < columns)
#pragma unroll 4
    for (int r = blockIdx.y * kTileRows + threadIdx.y; r < rows; r += gridDim.y * kTileRows)
      sum += fabsf(x[static_cast<size_t>(r) * columns + c]);
  tile[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kTileRows / 2; half > 0; half /= 2) {
    if (threadIdx.y < half) tile[threadIdx.y][threadIdx.x] += tile[threadIdx.y + half][threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.y == 0 && c < columns) partial[blockIdx.y * columns + c] = tile[0][threadIdx.x];
}

/// means[c] = the sum of column c of partial over its `slices`, divided by `rows`; a thread per column.
__global__ void column_means(const float* __restrict__ partial, float* __restrict__ means, int slices,
                             int rows, int columns) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  float sum = 0.0f;
  for (int s = 0; s < slices; ++s) sum += partial[s * columns + c];
  means[c] = sum / static_cast<float>(rows);
}

}  // namespace DEVICE::relu_layernorm
