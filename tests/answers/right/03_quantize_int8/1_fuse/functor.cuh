// a functor that holds scale and zero point, 2-D blocks
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_fuse {

struct Quantizer {
  float scale, zero_point;
  __device__ signed char operator()(float x) const {
    const float v = nearbyintf(x / scale + zero_point);
    if (v != v) return 0;
    if (v > 127.0f) return 127;
    if (v < -128.0f) return -128;
    return static_cast<signed char>(static_cast<int>(v));
  }
};

template <class F>
__global__ void map(const float* x, signed char* q, size_t n, F f) {
  const size_t thread = threadIdx.y * blockDim.x + threadIdx.x;
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x * blockDim.y) + thread;
  if (i < n) q[i] = f(x[i]);
}

inline void quantize(const float* x, float scale, float zero_point, float*, signed char* q, size_t n) {
  launch(map<Quantizer>, dim3(static_cast<unsigned>((n + 255) / 256)), dim3(64, 4), x, q, n,
         Quantizer{scale, zero_point});
}

}  // namespace DEVICE::quantize_fuse
