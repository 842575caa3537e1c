// a grid-stride loop over vectors; the last block does the tail; names of the specification
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_pack {

__device__ inline signed char quantized(float x, float scale, float zero_point) {
  const float step = rintf(x / scale + zero_point);
  const float number = step == step ? step : 0.0f;
  const float not_less = number > -128.0f ? number : -128.0f;
  return static_cast<signed char>(not_less < 127.0f ? not_less : 127.0f);
}

constexpr int kLimits = 128, kArrays = 1024;
__device__ inline char4 fill(float4 v, float s, float z) {
  return make_char4(quantized(v.x, s, z), quantized(v.y, s, z), quantized(v.z, s, z), quantized(v.w, s, z));
}

__global__ void run(const float* x, float scale, float zero_point, signed char* q, int elements) {
  const int warps = elements / 4, one = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < warps; i += one)
    reinterpret_cast<char4*>(q)[i] = fill(reinterpret_cast<const float4*>(x)[i], scale, zero_point);
  if (blockIdx.x == gridDim.x - 1)
    for (int i = 4 * warps + threadIdx.x; i < elements; i += blockDim.x)
      q[i] = quantized(x[i], scale, zero_point);
}

inline void quantize(const float* x, float scale, float zero_point, signed char* q, int n) {
  const int blocks = (n + 4 * kLimits - 1) / (4 * kLimits);
  launch(run, blocks < kArrays ? blocks : kArrays, kLimits, x, scale, zero_point, q, n);
}

}  // namespace DEVICE::quantize_pack
