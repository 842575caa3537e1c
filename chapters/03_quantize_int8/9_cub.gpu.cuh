/// \file
/// Not a stage of ours: `cub::DeviceTransform`, what an engineer would call instead of writing a kernel.
#pragma once
#include <cub/device/device_transform.cuh>

#include "quantize.cuh"

namespace DEVICE::quantize_int8 {

struct Quantize {
  float scale, zero_point;
  __device__ signed char operator()(float x) const { return to_int8(quantized(x, scale, zero_point)); }
};

/// q[i] = the int8 of x[i].
inline void cub_transform(const float* x, float scale, float zero_point, signed char* q, int n) {
  check(cub::DeviceTransform::Transform(cuda::std::make_tuple(x), q, n, Quantize{scale, zero_point}));
}

}  // namespace DEVICE::quantize_int8
