// the elements after the last float4 are left out | out[
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_coalesce {

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 4) return;
  const float4 v = reinterpret_cast<const float4*>(x)[i];
  reinterpret_cast<float4*>(out)[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
}

}  // namespace DEVICE::first_kernel_coalesce
