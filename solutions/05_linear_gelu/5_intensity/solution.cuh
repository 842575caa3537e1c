/// \file
/// Exercise 05.5, intensity: bytes, and operations per byte, of four tilings.
///
/// Numbers, not code. Four kernels compute x * w^T by tiles in shared memory, with m = 256, k = 64 and n =
/// 256, in float32. For each: the bytes that it reads and writes for one element of the result, and its
/// arithmetic intensity: the 2k operations of an element divided by these bytes. Both to a tenth. Tiles are
/// rows of the result by columns of it.
///
/// Goal: all eight as the CPU device counts them for these kernels as they are.
#pragma once
#include "device.hpp"

namespace DEVICE::linear_intensity {

// BEGIN SOLUTION
constexpr double kBytes16x16 = 4 * 64 * (1.0 / 16 + 1.0 / 16) + 4;    // of x and w, and 4 of the result
constexpr double kBytes64x16 = 4 * 64 * (1.0 / 64 + 1.0 / 16) + 4;    // w serves 64 rows, x only 16 columns
constexpr double kBytes128x32 = 4 * 64 * (1.0 / 128 + 1.0 / 32) + 4;  // 4096 elements, as 64 x 64 has
constexpr double kBytes256x16 = 4 * 64 * (1.0 / 256 + 1.0 / 16) + 4;  // 4096, too: the short side counts
constexpr double kIntensity16x16 = 2 * 64 / kBytes16x16;              // 2k operations
constexpr double kIntensity64x16 = 2 * 64 / kBytes64x16;              // the same operations, fewer bytes
constexpr double kIntensity128x32 = 2 * 64 / kBytes128x32;            // the most operations per byte
constexpr double kIntensity256x16 = 2 * 64 / kBytes256x16;            // less than 128 x 32
// SKELETON
// constexpr double kBytes16x16 = 0.0;
// constexpr double kBytes64x16 = 0.0;
// constexpr double kBytes128x32 = 0.0;
// constexpr double kBytes256x16 = 0.0;
// constexpr double kIntensity16x16 = 0.0;
// constexpr double kIntensity64x16 = 0.0;
// constexpr double kIntensity128x32 = 0.0;
// constexpr double kIntensity256x16 = 0.0;
// END SOLUTION

/// product = x * w^T with tiles of Rows x Columns, kDepth steps of k at a time; m, k and n are multiples of
/// these. Blocks of 16 x 16 threads; blockIdx.x counts tiles along n, blockIdx.y along m.
template <int Rows, int Columns>
__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  constexpr int kDepth = 16, kAcross = 16;
  __shared__ float tile_x[Rows][kDepth + 1], tile_w[Columns][kDepth + 1];
  const int first_row = blockIdx.y * Rows, first_column = blockIdx.x * Columns;
  float sum[Rows / kAcross][Columns / kAcross] = {};
  for (int first = 0; first < k; first += kDepth) {
    for (int r = threadIdx.y; r < Rows; r += kAcross)
      tile_x[r][threadIdx.x] = x[static_cast<size_t>(first_row + r) * k + first + threadIdx.x];
    for (int c = threadIdx.y; c < Columns; c += kAcross)
      tile_w[c][threadIdx.x] = w[static_cast<size_t>(first_column + c) * k + first + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < kDepth; ++i)
      for (int r = 0; r < Rows / kAcross; ++r)
        for (int c = 0; c < Columns / kAcross; ++c)
          sum[r][c] += tile_x[threadIdx.y + r * kAcross][i] * tile_w[threadIdx.x + c * kAcross][i];
    __syncthreads();
  }
  for (int r = 0; r < Rows / kAcross; ++r)
    for (int c = 0; c < Columns / kAcross; ++c)
      product[static_cast<size_t>(first_row + threadIdx.y + r * kAcross) * n + first_column + threadIdx.x +
              c * kAcross] = sum[r][c];
}

}  // namespace DEVICE::linear_intensity
