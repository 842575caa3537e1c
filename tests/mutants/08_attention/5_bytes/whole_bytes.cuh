// rounded to whole bytes | causal: fewer
#pragma once
#include "device.hpp"

namespace DEVICE::attention_bytes {

constexpr double kThreeKernelsBytes = 48;
constexpr double kTwoKernelsBytes = 36;
constexpr double kOnlineBytes = 32;
constexpr double kFlashBytes = 16;
constexpr double kCausalBytes = 9;

}  // namespace DEVICE::attention_bytes
