// the vectors begin at a multiple of 128 bytes, a lambda does the others
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_vectorise {

__global__ void scaled_sum(float a, const float* x, const float* y, float* out, int n) {
  const auto past = [](const void* p, int bytes) { return int(reinterpret_cast<size_t>(p) % bytes); };
  const auto single = [=](int i) { out[i] = __fmaf_rn(a, x[i], y[i]); };
  const int i = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;

  int head = n;
  if (past(x, 16) == past(out, 16) && past(y, 16) == past(out, 16))
    head = min(n, (128 - past(out, 128)) % 128 / 4);
  const int four = (n - head) / 4;
  const float4* xv = reinterpret_cast<const float4*>(x + head);
  const float4* yv = reinterpret_cast<const float4*>(y + head);
  for (int v = i; v < four; v += stride) {
    const float4 p = xv[v], q = yv[v];
    reinterpret_cast<float4*>(out + head)[v] = make_float4(__fmaf_rn(a, p.x, q.x), __fmaf_rn(a, p.y, q.y),
                                                           __fmaf_rn(a, p.z, q.z), __fmaf_rn(a, p.w, q.w));
  }
  for (int s = i; s < head; s += stride) single(s);
  for (int s = head + 4 * four + i; s < n; s += stride) single(s);
}

inline void scale_and_add(float a, const float* x, const float* y, float* out, int n) {
  launch(scaled_sum, n / 2048 + 1, 512, a, x, y, out, n);
}

}  // namespace DEVICE::multiply_add_vectorise
