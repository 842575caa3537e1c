// two elements per thread: a float4 of pairs, a float2 of v and of out, and the last element of an odd n
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_pairs {

__global__ void two_each(const float* __restrict__ pairs, const float* __restrict__ v,
                         float* __restrict__ out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n / 2) {
    const float4 qk = reinterpret_cast<const float4*>(pairs)[t];
    const float2 add = reinterpret_cast<const float2*>(v)[t];
    reinterpret_cast<float2*>(out)[t] = make_float2(qk.x * qk.y + add.x, qk.z * qk.w + add.y);
  }
  if (t == 0 && n % 2 == 1) out[n - 1] = pairs[2 * n - 2] * pairs[2 * n - 1] + v[n - 1];
}

inline void multiply_add(const float* pairs, const float* v, float* out, int n) {
  launch(two_each, n / 512 + 1, 256, pairs, v, out, n);
}

}  // namespace DEVICE::multiply_add_pairs
