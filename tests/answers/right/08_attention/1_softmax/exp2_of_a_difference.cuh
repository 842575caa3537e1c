// exp2f of scores in units of log 2, multiplied and subtracted in one fma
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_softmax {

__global__ void softmax(const float* x, float* p, int columns) {
  constexpr float kLog2E = 1.44269504f;
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float* out = p + static_cast<size_t>(blockIdx.x) * columns;
  float most = -INFINITY;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) most = fmaxf(most, row[j]);
  const float base = block_max_by_warps(most) * kLog2E;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += exp2f(fmaf(row[j], kLog2E, -base));
  const float factor = 1.0f / block_sum_by_warps(sum);
  for (int j = threadIdx.x; j < columns; j += blockDim.x)
    out[j] = exp2f(fmaf(row[j], kLog2E, -base)) * factor;
}

}  // namespace DEVICE::attention_softmax
