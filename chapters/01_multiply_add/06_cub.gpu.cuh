/// \file
/// Not a stage of ours: what an engineer would call instead of writing a kernel. `cub::DeviceTransform` is
/// part of the CUDA Toolkit; it picks the vector width and the bytes in flight for the card at hand.
#pragma once
#include "problem.cuh"
#if defined(__CUDACC__) && __has_include(<cub/device/device_transform.cuh>)
#include <cub/device/device_transform.cuh>
#define WITH_CUB
#endif

namespace DEVICE::multiply_add {

#ifdef WITH_CUB
struct MultiplyAdd {
  __device__ float operator()(float q, float k, float v) const { return q * k + v; }
};
#endif

// --- On the host ---

struct Cub {
  static constexpr Stage row = kElementwise.with(
      {.name = "06_cub", .idea = "library: cub::DeviceTransform", .needs = "a GPU and cub::DeviceTransform"});
#ifdef WITH_CUB
  static void run(const Data& data) {
    const int n = length(data.shape);
    check(cub::DeviceTransform::Transform(cuda::std::make_tuple(data[kQ], data[kK], data[kV]), data[kOut], n,
                                          MultiplyAdd{}));
  }
  static Traffic traffic(const Shape& s) {
    return {3 * sector_bytes(elements(s)), sector_bytes(elements(s))};
  }
#endif
};

}  // namespace DEVICE::multiply_add
