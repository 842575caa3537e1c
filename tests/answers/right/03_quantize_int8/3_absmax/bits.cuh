// floats without a sign compare like their bits: a tree of unsigned numbers; a NaN is left out
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

__device__ inline unsigned magnitude(float a) {
  const unsigned bits = __float_as_uint(a) & 0x7fffffffu;
  return bits > 0x7f800000u ? 0u : bits;
}

__global__ void find_largest(const float* __restrict__ x, float* __restrict__ largest, unsigned columns) {
  __shared__ unsigned found[1024];
  unsigned most = 0;
  for (unsigned c = threadIdx.x; c < columns; c += blockDim.x)
    most = max(most, magnitude(x[blockIdx.x * static_cast<size_t>(columns) + c]));
  found[threadIdx.x] = most;
  for (unsigned left = blockDim.x; left > 1; left = (left + 1) / 2) {
    __syncthreads();
    const unsigned other = threadIdx.x + (left + 1) / 2;
    if (other < left) found[threadIdx.x] = max(found[threadIdx.x], found[other]);
  }
  if (threadIdx.x == 0) largest[blockIdx.x] = __uint_as_float(found[0]);
}

}  // namespace DEVICE::quantize_absmax
