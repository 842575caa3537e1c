// a first kernel takes the pairs apart, into out for lack of another array | over budget: launches
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_pairs {

__global__ void products(const float2* pairs, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float2 qk = pairs[i];
    out[i] = qk.x * qk.y;
  }
}

__global__ void add(const float* v, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += v[i];
}

inline void multiply_add(const float* pairs, const float* v, float* out, int n) {
  launch(products, (n - 1) / 256 + 1, 256, reinterpret_cast<const float2*>(pairs), out, n);
  launch(add, (n - 1) / 256 + 1, 256, v, out, n);
}

}  // namespace DEVICE::multiply_add_pairs
