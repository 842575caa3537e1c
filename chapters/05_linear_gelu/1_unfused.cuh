/// \file
/// Stage 1: three kernels. The product is as direct as can be, a thread an element, and lies across memory:
/// the lanes of a warp are in different rows of x and of the result.
#pragma once
#include "device.hpp"

namespace DEVICE::linear_gelu {

/// 0.5 v (1 + erf(v / sqrt(2))): D. Hendrycks, K. Gimpel, Gaussian error linear units (2016).
__device__ inline float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }

/// product = x * w^T: x is m x k, w is n x k as PyTorch's Linear stores it, product is m x n, all row by row.
/// A thread per element, lanes along m. Traffic: a sector per lane for each element of x, so 33 bytes for
/// each multiplication, and a sector for each element of the result.
__global__ void product_down_columns(const float* __restrict__ x, const float* __restrict__ w,
                                     float* __restrict__ product, int m, int k, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  const float *x_row = x + static_cast<size_t>(row) * k, *w_row = w + static_cast<size_t>(column) * k;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += x_row[i] * w_row[i];
  product[static_cast<size_t>(row) * n + column] = sum;
}

/// biased = product + bias, row by row: blockIdx.x is the row. Reads 8 bytes and writes 4 bytes per element.
__global__ void add_bias(const float* __restrict__ product, const float* __restrict__ bias,
                         float* __restrict__ biased, int n) {
  const int column = blockIdx.y * blockDim.x + threadIdx.x;
  const size_t first = static_cast<size_t>(blockIdx.x) * n;
  if (column < n) biased[first + column] = product[first + column] + bias[column];
}

/// y = gelu(biased). Reads 4 bytes and writes 4 bytes per element.
__global__ void apply_gelu(const float* __restrict__ biased, float* __restrict__ y, int n) {
  const int column = blockIdx.y * blockDim.x + threadIdx.x;
  const size_t first = static_cast<size_t>(blockIdx.x) * n;
  if (column < n) y[first + column] = gelu(biased[first + column]);
}

}  // namespace DEVICE::linear_gelu
