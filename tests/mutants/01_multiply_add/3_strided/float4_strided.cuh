// float4, but each thread's two are neighbours | over budget: bytes read
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_strided {

__global__ void eight_each(const float* __restrict__ q, const float* __restrict__ k,
                           const float* __restrict__ v, float* __restrict__ out, unsigned n) {
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  for (unsigned i = first; i < first + 2; ++i) {
    if (4 * i + 4 <= n) {
      const float4 a = reinterpret_cast<const float4*>(q)[i], b = reinterpret_cast<const float4*>(k)[i];
      const float4 c = reinterpret_cast<const float4*>(v)[i];
      reinterpret_cast<float4*>(out)[i] =
          make_float4(a.x * b.x + c.x, a.y * b.y + c.y, a.z * b.z + c.z, a.w * b.w + c.w);
    } else {
      for (unsigned j = 4 * i; j < n; ++j) out[j] = q[j] * k[j] + v[j];
    }
  }
}

}  // namespace DEVICE::multiply_add_strided
