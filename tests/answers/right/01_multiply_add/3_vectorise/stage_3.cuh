// stage 3 of the lesson with one array fewer
#pragma once
#include <cstdint>

#include "ceil_div.hpp"
#include "device.hpp"

namespace DEVICE::multiply_add_vectorise {

struct Split {
  unsigned head;
  unsigned vectors;
};

__device__ inline Split split(const float* a, const float* b, const float* c, unsigned n) {
  const auto phase = [](const float* p) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(p) / 4 % 4);
  };
  const bool together = phase(a) == phase(b) && phase(a) == phase(c);
  const unsigned to_boundary = (4 - phase(a)) % 4;
  const unsigned head = together && to_boundary < n ? to_boundary : n;
  return {head, (n - head) / 4};
}

__device__ inline float4 multiply_add(float q, float4 k, float4 v) {
  return make_float4(q * k.x + v.x, q * k.y + v.y, q * k.z + v.z, q * k.w + v.w);
}

__device__ inline void multiply_add_singles(Split split, float q, const float* k, const float* v, float* out,
                                            unsigned n) {
  const unsigned singles = n - 4 * split.vectors;
  for (unsigned s = blockIdx.x * blockDim.x + threadIdx.x; s < singles; s += gridDim.x * blockDim.x) {
    const unsigned i = s < split.head ? s : s + 4 * split.vectors;
    out[i] = q * k[i] + v[i];
  }
}

__global__ void vectorised(float q, const float* __restrict__ k, const float* __restrict__ v,
                           float* __restrict__ out, int n) {
  const Split at = split(k, v, out, n);
  const float4* k4 = reinterpret_cast<const float4*>(k + at.head);
  const float4* v4 = reinterpret_cast<const float4*>(v + at.head);
  float4* out4 = reinterpret_cast<float4*>(out + at.head);

  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < at.vectors) out4[i] = multiply_add(q, k4[i], v4[i]);
  multiply_add_singles(at, q, k, v, out, n);
}

inline void scale_and_add(float a, const float* x, const float* y, float* out, int n) {
  launch(vectorised, ceil_div(n, 4 * 768), 768, a, x, y, out, n);
}

}  // namespace DEVICE::multiply_add_vectorise
