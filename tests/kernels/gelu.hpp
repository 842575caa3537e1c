/// \file
/// The forms of GELU in kernels for a GPU alone.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// out[i] = FastGelu of in[i], or FastGeluTanh.
void fast_gelu(const float* in, float* out, int n, bool tanh);

}  // namespace DEVICE::test_kernels
