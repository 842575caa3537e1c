/// \file
/// Stage 1: three kernels. The product is as direct as can be, one thread per element, but its accesses are
/// far apart: the lanes of a warp work on different rows of x and of the result.
#pragma once
#include "gelu.hpp"
#include "problem.cuh"

namespace DEVICE::linear_gelu {

// [product]
/// product = x * w^T: x is m x k, w is n x k as PyTorch's Linear stores it, product is m x n, all row-major.
/// One thread per element, lanes along m. Traffic: each lane reads a sector for each element of x, so 33
/// bytes per multiplication, and writes a sector for its element of the result.
__global__ void product_down_columns(const float* __restrict__ x, const float* __restrict__ w,
                                     float* __restrict__ product, int m, int k, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  const float *x_row = x + static_cast<size_t>(row) * k, *w_row = w + static_cast<size_t>(column) * k;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += x_row[i] * w_row[i];
  product[static_cast<size_t>(row) * n + column] = sum;
}
// [product]

/// biased = product + bias, added to each row: blockIdx.x is the row. Reads 8 bytes and writes 4 bytes per
/// element.
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

// --- On the host ---

constexpr int kRowThreads = 256;

inline void launch_bias_and_gelu(const Data& data) {
  const Factors a = factors(data);
  launch(add_bias, by_rows(a, kRowThreads), kRowThreads, data[kProduct], data[kBias], data[kBiased], a.n);
  launch(apply_gelu, by_rows(a, kRowThreads), kRowThreads, data[kBiased], data[kY], a.n);
}
inline Traffic bias_and_gelu_traffic(const Shape& s) { return pass(s, 4 * y_elements(s)) + pass(s, 0); }

struct Unfused {
  static constexpr Stage row =
      kComputesY.with({.name = "01_unfused",
                       .idea = "three kernels; the product's lanes are in different rows",
                       .kernels = 3,
                       .needs = "at most 2^34 multiplications: it is slow"});
  static void run(const Data& data) {
    const Factors a = factors(data);
    const dim3 grid(static_cast<unsigned>(ceil_div(a.m, 32)), static_cast<unsigned>(ceil_div(a.n, 8)));
    launch(product_down_columns, grid, dim3(32, 8), a.x, a.w, data[kProduct], a.m, a.k, a.n);
    launch_bias_and_gelu(data);
  }
  static Traffic traffic(const Shape& s) {
    const long long read = 32 * y_elements(s) * k(s) + 32 * n(s) * ceil_div(s.dims[0], 32) * k(s);
    return product_traffic(s, read, 32 * y_elements(s)) + bias_and_gelu_traffic(s);
  }
  static bool suits(const Shape& s) { return product_flops(s) <= 2 * ldexp(1.0, 34); }
};

}  // namespace DEVICE::linear_gelu
