// 0 / 0, which is no number | online: no number
#pragma once
#include "device.hpp"

namespace DEVICE::attention_bytes {

const double kNothing = 0;
const double kThreeKernelsBytes = 48.25;
const double kTwoKernelsBytes = 36.25;
const double kOnlineBytes = kNothing / kNothing;
const double kFlashBytes = 16.5;
const double kCausalBytes = 8.75;

}  // namespace DEVICE::attention_bytes
