// the first warp alone adds up the warps' sums; the array is set to zero first
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_shuffle {

template <typename T>
__device__ T warp_reduce(T v) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
  return v;
}

__device__ float block_reduce(float v) {
  __shared__ float shared[32];
  const int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
  if (threadIdx.x < 32) shared[threadIdx.x] = 0.0f;
  v = warp_reduce(v);
  __syncthreads();
  if (lane == 0) shared[wid] = v;
  __syncthreads();
  if (wid == 0) v = warp_reduce(shared[lane]);
  return v;
}

__global__ void row_squares(const float* __restrict__ x, float* __restrict__ squares, unsigned columns) {
  float sum = 0.0f;
  for (size_t i = threadIdx.x; i < columns; i += blockDim.x) {
    const float v = x[size_t(blockIdx.x) * columns + i];
    sum += v * v;
  }
  sum = block_reduce(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

}  // namespace DEVICE::layernorm_shuffle
