/// \file
/// For kernels: the hardware's own power of two, in PTX.
#pragma once
#include "device.hpp"

namespace DEVICE {

/// 2^x in one instruction, off by at most 2 units of the last place; results below 2^-126 become 0. exp2f()
/// takes three instructions more, so that such results are right as well.
__device__ inline float exp2_in_hardware(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace DEVICE
