/// \file
/// Not a stage of ours: what an engineer would call instead of writing a kernel. `cub::DeviceTransform` is
/// part of the CUDA Toolkit; it picks the vector width and the bytes in flight for the card at hand.
#pragma once
#include <cub/device/device_transform.cuh>

#include "problem.cuh"

namespace DEVICE::multiply_add {

struct MultiplyAdd {
  __device__ float operator()(float q, float k, float v) const { return q * k + v; }
};

// --- On the host ---

struct Cub {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    check(cub::DeviceTransform::Transform(cuda::std::make_tuple(a.q, a.k, a.v), a.out, a.n, MultiplyAdd{}));
  }
  static Traffic traffic(const Shape& s) {
    return {3 * sector_bytes(elements(s)), sector_bytes(elements(s))};
  }
};

}  // namespace DEVICE::multiply_add
