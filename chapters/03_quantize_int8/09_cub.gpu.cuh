/// \file
/// Not a stage of ours: `cub::DeviceTransform`, what an engineer would call instead of writing a kernel.
#pragma once
#include "problem.cuh"
#include "quantize.cuh"
#if defined(__CUDACC__) && __has_include(<cub/device/device_transform.cuh>)
#include <cub/device/device_transform.cuh>
#define WITH_CUB
#endif

namespace DEVICE::quantize_int8 {

#ifdef WITH_CUB
struct Quantize {
  float scale, zero_point;
  __device__ signed char operator()(float x) const { return to_int8(quantized(x, scale, zero_point)); }
};
#endif

// --- On the host ---

struct Cub {
  static constexpr Stage row = kOneScale.with({.name = "09_cub",
                                               .idea = "library: cub::DeviceTransform, one scale",
                                               .needs = "a GPU and cub::DeviceTransform"});
#ifdef WITH_CUB
  static void run(const Data& data) {
    const int n = sizes(data.shape).n;
    check(cub::DeviceTransform::Transform(cuda::std::make_tuple(data[kX]), data[kQ], n,
                                          Quantize{kScale, kZeroPoint}));
  }
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
#endif
};

}  // namespace DEVICE::quantize_int8
