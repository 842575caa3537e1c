/// \file
/// Stage 2: lanes along k, where both x and w lie side by side: a warp an element. Of 32 bytes that come, all
/// are used.
#pragma once
#include "1_unfused.cuh"

namespace DEVICE::linear_gelu {

/// The sum of x[i] * w[i] over i < k, in every lane: the warp shares it out.
__device__ inline float warp_dot(const float* __restrict__ x, const float* __restrict__ w, int k) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < k; i += 32) sum += x[i] * w[i];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

/// product = x * w^T, matrices as in stage 1; blocks of 32 x columns threads: warp threadIdx.y has a column,
/// and blockIdx.x is the row. Traffic: 8 bytes for each multiplication, and a sector for each element of the
/// result.
__global__ void product_along_rows(const float* __restrict__ x, const float* __restrict__ w,
                                   float* __restrict__ product, int k, int n) {
  const size_t row = blockIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n) return;
  const float sum = warp_dot(x + row * k, w + static_cast<size_t>(column) * k, k);
  if (threadIdx.x == 0) product[row * n + column] = sum;
}

}  // namespace DEVICE::linear_gelu
