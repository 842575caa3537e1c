/// \file
/// Stage 10: bias and GELU in the epilogue of stage 9. The product never goes to memory: 4 bytes less written
/// and 8 less read for each element, once, beside a product that costs the more the longer k is.
#pragma once
#include "1_unfused.cuh"
#include "9_warp_tiles.cuh"

namespace DEVICE::linear_gelu {

/// 0.5 v (1 + tanh(sqrt(2 / pi) (v + 0.044715 v^3))), the approximation of the same paper, which cuBLASLt
/// has.
__device__ inline float gelu_tanh(float v) {
  return 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
}

/// gelu(sum + bias), for all rows of a column.
struct BiasGelu {
  const float* bias;
  __device__ float of_column(int column) const { return bias[column]; }
  __device__ float operator()(float sum, float shift) const { return gelu(sum + shift); }
};
struct BiasGeluTanh {
  const float* bias;
  __device__ float of_column(int column) const { return bias[column]; }
  __device__ float operator()(float sum, float shift) const { return gelu_tanh(sum + shift); }
};

constexpr int kFinishRows = 4, kFinishThreads = 256;

/// y = gelu(product + bias) in one pass, as it stands beside a library's product: a grid of slices of
/// kFinishRows rows x slices of 4 * kFinishThreads columns. Reads 8 bytes and writes 4 bytes per element.
template <class Epilogue>
__global__ void finish(const float* __restrict__ product, float* __restrict__ y, int m, int n,
                       Epilogue epilogue) {
  const int column = (blockIdx.y * kFinishThreads + threadIdx.x) * 4, first_row = blockIdx.x * kFinishRows;
  if (column >= n) return;
  const size_t first = static_cast<size_t>(first_row) * n + column;
  const bool aligned = starts_vectors(product, n) && starts_vectors(y, n);
  float4 of_product[kFinishRows];
#pragma unroll
  for (int r = 0; r < kFinishRows; ++r)
    of_product[r] = first_row + r < m
                        ? load_four(product + first + static_cast<size_t>(r) * n, n - column, aligned)
                        : float4{};
  float of_column[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) of_column[j] = column + j < n ? epilogue.of_column(column + j) : 0.0f;
#pragma unroll
  for (int r = 0; r < kFinishRows; ++r) {
    const float4 v = of_product[r];
    const float results[] = {epilogue(v.x, of_column[0]), epilogue(v.y, of_column[1]),
                             epilogue(v.z, of_column[2]), epilogue(v.w, of_column[3])};
    if (first_row + r < m) store_four(y + first + static_cast<size_t>(r) * n, results, n - column, aligned);
  }
}

}  // namespace DEVICE::linear_gelu
