// a number without end | flash: no number
#pragma once
#include "device.hpp"

namespace DEVICE::attention_bytes {

const double kThreeKernelsBytes = 48.25;
const double kTwoKernelsBytes = 36.25;
const double kOnlineBytes = 32.25;
const double kFlashBytes = __builtin_huge_val();
const double kCausalBytes = 8.75;

}  // namespace DEVICE::attention_bytes
