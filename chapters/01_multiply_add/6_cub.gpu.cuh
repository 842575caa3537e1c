/// \file
/// Not a stage of ours: what an engineer would call instead of writing a kernel. `cub::DeviceTransform` is
/// part of the CUDA Toolkit; it picks the vector width and the bytes in flight for the card at hand.
#pragma once
#include <cub/device/device_transform.cuh>

#include "device.hpp"

namespace DEVICE::multiply_add {

struct MultiplyAdd {
  __device__ float operator()(float q, float k, float v) const { return q * k + v; }
};

/// out[i] = q[i] * k[i] + v[i].
inline void cub_transform(const float* q, const float* k, const float* v, float* out, int n) {
  check(cub::DeviceTransform::Transform(cuda::std::make_tuple(q, k, v), out, n, MultiplyAdd{}));
}

}  // namespace DEVICE::multiply_add
