// head and tail by the first thread, all by the whole grid where vectors are impossible
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_vectorise {

__device__ bool aligned(const float* p) { return (reinterpret_cast<size_t>(p) & 15) == 0; }

__global__ void scaled_sum(float a, const float* x, const float* y, float* out, size_t n) {
  const size_t tid = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  size_t begin = 0;
  while (begin < 4 && !(aligned(x + begin) && aligned(y + begin) && aligned(out + begin))) ++begin;
  if (begin == 4 || begin > n) {
    for (size_t i = tid; i < n; i += step) out[i] = a * x[i] + y[i];
    return;
  }
  const size_t end = begin + (n - begin) / 4 * 4;
  for (size_t i = begin + 4 * tid; i < end; i += 4 * step) {
    const float4 u = *reinterpret_cast<const float4*>(x + i), v = *reinterpret_cast<const float4*>(y + i);
    *reinterpret_cast<float4*>(out + i) =
        make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
  }
  if (tid != 0) return;
  for (size_t i = 0; i < begin; ++i) out[i] = a * x[i] + y[i];
  for (size_t i = end; i < n; ++i) out[i] = a * x[i] + y[i];
}

inline void scale_and_add(float a, const float* x, const float* y, float* out, int n) {
  launch(scaled_sum, 300, 192, a, x, y, out, n);
}

}  // namespace DEVICE::multiply_add_vectorise
