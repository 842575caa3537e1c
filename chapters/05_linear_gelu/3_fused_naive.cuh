/// \file
/// Stage 3: bias and GELU where the product is finished, in one kernel. What chapters 01 to 04 gained by this
/// is lost here in what the product costs.
#pragma once
#include "2_coalesced.cuh"

namespace DEVICE::linear_gelu {

/// y = gelu(x * w^T + bias); blocks as in stage 2. Traffic: as there, and a sector for each bias.
__global__ void linear_along_rows(const float* __restrict__ x, const float* __restrict__ w,
                                  const float* __restrict__ bias, float* __restrict__ y, int k, int n) {
  const size_t row = blockIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n) return;
  const float sum = warp_dot(x + row * k, w + static_cast<size_t>(column) * k, k);
  if (threadIdx.x == 0) y[row * n + column] = gelu(sum + bias[column]);
}

}  // namespace DEVICE::linear_gelu
