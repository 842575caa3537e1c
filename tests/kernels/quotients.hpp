/// \file
/// The division of chapter 03's stages 5 and 8.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// out[i] = x[i] / scale[i] as divided() computes it.
void divide_corrected(const float* x, const float* scale, float* out, int n);

}  // namespace DEVICE::test_kernels
