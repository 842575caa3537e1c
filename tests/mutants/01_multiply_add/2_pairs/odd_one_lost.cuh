// two elements per thread, and nobody computes the last element of an odd n | out[0] is
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_pairs {

__global__ void two_each(const float4* pairs, const float2* v, float2* out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n / 2) {
    const float4 qk = pairs[t];
    const float2 add = v[t];
    out[t] = make_float2(qk.x * qk.y + add.x, qk.z * qk.w + add.y);
  }
}

inline void multiply_add(const float* pairs, const float* v, float* out, int n) {
  launch(two_each, n / 512 + 1, 256, reinterpret_cast<const float4*>(pairs),
         reinterpret_cast<const float2*>(v), reinterpret_cast<float2*>(out), n);
}

}  // namespace DEVICE::multiply_add_pairs
