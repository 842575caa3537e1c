// __float2int_rn and integer clamps, a union; the tail by thread 0
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_pack {

__device__ inline int clamped(float x, float scale, float zero_point) {
  const int step = __float2int_rn(x / scale + zero_point);
  return min(max(step, -128), 127);
}

union Four {
  int word;
  signed char bytes[4];
};

__global__ void packed(const float4* __restrict__ x, float scale, float zero_point, int* __restrict__ q,
                       size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n / 4) {
    const float4 v = __ldg(x + i);
    Four four;
    four.bytes[0] = static_cast<signed char>(clamped(v.x, scale, zero_point));
    four.bytes[1] = static_cast<signed char>(clamped(v.y, scale, zero_point));
    four.bytes[2] = static_cast<signed char>(clamped(v.z, scale, zero_point));
    four.bytes[3] = static_cast<signed char>(clamped(v.w, scale, zero_point));
    q[i] = four.word;
  }
  if (i != 0) return;
  for (size_t j = n - n % 4; j < n; ++j)
    reinterpret_cast<signed char*>(q)[j] =
        static_cast<signed char>(clamped(reinterpret_cast<const float*>(x)[j], scale, zero_point));
}

inline void quantize(const float* x, float scale, float zero_point, signed char* q, size_t n) {
  launch(packed, static_cast<int>(n / 4 / 192 + 1), 192, reinterpret_cast<const float4*>(x), scale,
         zero_point, reinterpret_cast<int*>(q), n);
}

}  // namespace DEVICE::quantize_pack
