// the first warp looks at one value of each warp, then shuffles; fmaxf throughout
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

template <typename T>
__device__ T reduce_max(T v) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2)
    v = fmaxf(v, __shfl_down_sync(0xffffffff, v, offset));
  return v;
}

__global__ void find_largest(const float* x, float* largest, int columns) {
  const int blocks = blockDim.x / 32, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const float* row = &x[blockIdx.x * static_cast<size_t>(columns)];
  float m = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) m = fmaxf(m, fabsf(row[i]));
  __shared__ float per_warp[32];
  m = reduce_max(m);
  if (lane == 0) per_warp[warp] = m;
  __syncthreads();
  if (warp > 0) return;
  m = lane < blocks ? per_warp[lane] : 0;
  m = reduce_max(m);
  if (lane == 0) largest[blockIdx.x] = m;
}

}  // namespace DEVICE::quantize_absmax
