/// \file
/// Stands in for common/kernels/exp2.gpu.cuh on the CPU device.
#pragma once
#include "device.hpp"

namespace DEVICE {

__device__ inline float exp2_in_hardware(float x) { return exp2f(x); }

}  // namespace DEVICE
