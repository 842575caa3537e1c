// two float4 per thread, a block apart, the last elements one by one
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_strided {

__device__ inline float4 multiply_add(float4 a, float4 b, float4 c) {
  return make_float4(a.x * b.x + c.x, a.y * b.y + c.y, a.z * b.z + c.z, a.w * b.w + c.w);
}

__global__ void eight_each(const float* __restrict__ q, const float* __restrict__ k,
                           const float* __restrict__ v, float* __restrict__ out, unsigned n) {
  const unsigned vectors = n / 4;
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned i = (2 * blockIdx.x + half) * blockDim.x + threadIdx.x;
    if (i < vectors) {
      const float4 a = reinterpret_cast<const float4*>(q)[i], b = reinterpret_cast<const float4*>(k)[i];
      const float4 c = reinterpret_cast<const float4*>(v)[i];
      reinterpret_cast<float4*>(out)[i] = multiply_add(a, b, c);
    }
  }
  if (const unsigned tail = 4 * vectors + threadIdx.x; blockIdx.x == gridDim.x - 1 && tail < n)
    out[tail] = q[tail] * k[tail] + v[tail];
}

}  // namespace DEVICE::multiply_add_strided
