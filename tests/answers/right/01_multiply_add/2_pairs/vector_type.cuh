// a function object on float2, called with the loaded pair by value
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_pairs {

struct ProductPlus {
  float add;
  __device__ float operator()(float2 pair) const { return pair.x * pair.y + add; }
};

__global__ void apply(const float2* __restrict__ pairs, const float* __restrict__ v, float* __restrict__ out,
                      int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = ProductPlus{v[i]}(pairs[i]);
}

inline void multiply_add(const float* pairs, const float* v, float* out, int n) {
  launch(apply, n / 512 + 1, 512, reinterpret_cast<const float2*>(pairs), v, out, n);
}

}  // namespace DEVICE::multiply_add_pairs
