// the host says where the vectors begin; the scalar loop takes all where there are none
#pragma once
#include <stdint.h>

#include <algorithm>

#include "device.hpp"

namespace DEVICE::multiply_add_vectorise {

__global__ void saxpy(float a, const float* x, const float* y, float* out, int n, int head, int vectors) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int i = thread; i < vectors; i += threads) {
    const float4 u = ((const float4*)(x + head))[i];
    const float4 v = ((const float4*)(y + head))[i];
    ((float4*)(out + head))[i] = {fmaf(a, u.x, v.x), fmaf(a, u.y, v.y), fmaf(a, u.z, v.z), fmaf(a, u.w, v.w)};
  }
  for (int i = thread; i < head; i += threads) out[i] = fmaf(a, x[i], y[i]);
  for (int i = head + 4 * vectors + thread; i < n; i += threads) out[i] = fmaf(a, x[i], y[i]);
}

inline void scale_and_add(float a, const float* x, const float* y, float* out, int n) {
  const auto off = [](const float* p) { return static_cast<int>(reinterpret_cast<uintptr_t>(p) % 16 / 4); };
  int head = n;
  if (off(x) == off(y) && off(y) == off(out)) head = std::min(n, (4 - off(x)) & 3);
  launch(saxpy, 512, 256, a, x, y, out, n, head, (n - head) / 4);
}

}  // namespace DEVICE::multiply_add_vectorise
