// the lanes add up in shared memory, with a template for the step
#pragma once
#include "device.hpp"

namespace DEVICE::linear_coalesce {

template <int kDistance>
__device__ void halve(float* partial, int lane) {
  if (lane < kDistance) partial[lane] += partial[lane + kDistance];
  __syncwarp();
  if constexpr (kDistance > 1) halve<kDistance / 2>(partial, lane);
}

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, unsigned k, unsigned n) {
  __shared__ float partials[8][32];
  const unsigned lane = threadIdx.x, warp = threadIdx.y;
  const unsigned column = blockIdx.y * 8u + warp;
  if (column >= n) return;
  float sum = 0.0f;
  for (unsigned i = lane; i < k; i += warpSize)
    sum += x[static_cast<size_t>(blockIdx.x) * k + i] * w[static_cast<size_t>(column) * k + i];
  partials[warp][lane] = sum;
  __syncwarp();
  halve<16>(partials[warp], lane);
  if (lane == 0) product[static_cast<size_t>(blockIdx.x) * n + column] = partials[warp][0];
}

}  // namespace DEVICE::linear_coalesce
