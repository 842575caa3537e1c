// float4, and the last elements one by one in the last block
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_fuse {

__device__ inline float element(float q, float k, float v) { return fmaf(q, k, v); }

__global__ void by_fours(const float* q, const float* k, const float* v, float* out, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 3 < n) {
    const float4 a = *reinterpret_cast<const float4*>(q + i), b = *reinterpret_cast<const float4*>(k + i);
    const float4 c = *reinterpret_cast<const float4*>(v + i);
    *reinterpret_cast<float4*>(out + i) =
        make_float4(element(a.x, b.x, c.x), element(a.y, b.y, c.y), element(a.z, b.z, c.z), element(a.w, b.w, c.w));
  } else {
    for (int j = i; j < n; ++j) out[j] = element(q[j], k[j], v[j]);
  }
}

void multiply_add(const float* q, const float* k, const float* v, float* out, int n) {
  const int threads = 128, blocks = (n + 4 * threads - 1) / (4 * threads);
  launch(by_fours, blocks, threads, q, k, v, out, n);
}

}  // namespace DEVICE::multiply_add_fuse
