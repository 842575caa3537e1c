/// \file
/// More kernels to be counted on a GPU: those with asynchronous copies and tensor-core fragments.
#pragma once

#include "counted.hpp"

namespace DEVICE::test_kernels {

CountedKernels counted_tensor_kernels();

}  // namespace DEVICE::test_kernels
