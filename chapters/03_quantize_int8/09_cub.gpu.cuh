/// \file
/// Not a stage of ours: `cub::DeviceTransform`, what an engineer would call instead of writing a kernel.
#pragma once
#include <cub/device/device_transform.cuh>

#include "problem.cuh"
#include "quantize.cuh"

namespace DEVICE::quantize_int8 {

struct Quantize {
  float scale, zero_point;
  __device__ signed char operator()(float x) const { return to_int8(quantized(x, scale, zero_point)); }
};

// --- On the host ---

struct Cub {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    check(
        cub::DeviceTransform::Transform(cuda::std::make_tuple(a.x), a.q, a.n, Quantize{kScale, kZeroPoint}));
  }
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
};

}  // namespace DEVICE::quantize_int8
