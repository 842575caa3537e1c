/// \file
/// Not a stage of ours: `cub::DeviceTransform`, what an engineer would call instead of writing a kernel.
#pragma once
#include "04_float4.cuh"
#if defined(__CUDACC__) && __has_include(<cub/device/device_transform.cuh>)
#include <cub/device/device_transform.cuh>
#define WITH_CUB
#endif

namespace DEVICE::add_mul_exp {

#ifdef WITH_CUB
struct AddMulExp {
  __device__ float operator()(float x, float y) const { return add_mul_exp(x, y); }
};
#endif

// --- On the host ---

struct Cub {
  static constexpr Stage row = kElementwise.with(
      {.name = "10_cub", .idea = "library: cub::DeviceTransform", .needs = "a GPU and cub::DeviceTransform"});
#ifdef WITH_CUB
  static void run(const Data& data) {
    const int n = length(data.shape);
    check(cub::DeviceTransform::Transform(cuda::std::make_tuple(data[kX], data[kY]), data[kOut], n,
                                          AddMulExp{}));
  }
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
#endif
};

}  // namespace DEVICE::add_mul_exp
