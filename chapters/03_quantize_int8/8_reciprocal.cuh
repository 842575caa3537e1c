/// \file
/// No stage: what happens when the division becomes a multiplication by 1 / scale, which is rounded. It is
/// counted how many results are others.
#pragma once
#include "quantize.cuh"

namespace DEVICE::quantize_int8 {

/// Adds to differ[0] the elements of x for which x * (1 / scale) rounds to another step than x / scale.
__global__ void count_differences(const float* __restrict__ x, float scale, float zero_point, int* differ,
                                  int n) {
  const float reciprocal = 1.0f / scale;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float product = i < n ? rintf(x[i] * reciprocal + zero_point) : 0.0f;
  const float quotient = i < n ? rintf(x[i] / scale + zero_point) : 0.0f;
  if (product != quotient) atomicAdd(differ, 1);
}

}  // namespace DEVICE::quantize_int8
