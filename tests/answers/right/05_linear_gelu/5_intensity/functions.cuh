// functions of the tile's sides
#pragma once
#include "device.hpp"

namespace DEVICE::linear_intensity {

constexpr int kDepthOfAll = 64;
constexpr double bytes(int rows, int columns) { return 4.0 * kDepthOfAll * (1.0 / rows + 1.0 / columns) + 4; }
constexpr double intensity(int rows, int columns) { return 2.0 * kDepthOfAll / bytes(rows, columns); }

constexpr double kBytes16x16 = bytes(16, 16);
constexpr double kBytes32x32 = bytes(32, 32);
constexpr double kBytes64x16 = bytes(64, 16);
constexpr double kBytes64x64 = bytes(64, 64);
constexpr double kIntensity16x16 = intensity(16, 16);
constexpr double kIntensity32x32 = intensity(32, 32);
constexpr double kIntensity64x16 = intensity(64, 16);
constexpr double kIntensity64x64 = intensity(64, 64);

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
