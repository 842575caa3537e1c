/// \file
/// For kernels and for the code that launches them: a division that rounds up.
#pragma once
#include "device.hpp"

namespace DEVICE {

/// n / size, rounded up, for n >= 1: the number of blocks of `size` elements that cover n.
__host__ __device__ constexpr int ceil_div(int n, int size) { return (n - 1) / size + 1; }

}  // namespace DEVICE
