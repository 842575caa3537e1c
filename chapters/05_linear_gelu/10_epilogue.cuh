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

/// y = gelu(product + bias) in one pass, as it stands beside a library's product; blocks as in add_bias().
/// Reads 8 bytes and writes 4 bytes per element.
template <class Epilogue>
__global__ void finish(const float* __restrict__ product, float* __restrict__ y, int n, Epilogue epilogue) {
  const int column = blockIdx.y * blockDim.x + threadIdx.x;
  const size_t first = static_cast<size_t>(blockIdx.x) * n;
  if (column < n) y[first + column] = epilogue(product[first + column], epilogue.of_column(column));
}

}  // namespace DEVICE::linear_gelu
