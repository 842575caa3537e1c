// whole numbers and fractions
#pragma once
#include "device.hpp"

namespace DEVICE::attention_bytes {

constexpr double kThreeKernelsBytes = 193.0 / 4;
constexpr double kTwoKernelsBytes = 145.0 / 4;
constexpr double kOnlineBytes = 129.0 / 4;
constexpr double kFlashBytes = 33.0 / 2;
constexpr double kCausalBytes = 35.0 / 4;

}  // namespace DEVICE::attention_bytes
