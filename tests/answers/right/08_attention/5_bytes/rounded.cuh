// rounded to a tenth, halves up or down
#pragma once
#include "device.hpp"

namespace DEVICE::attention_bytes {

constexpr double kThreeKernelsBytes = 48.3;
constexpr double kTwoKernelsBytes = 36.2;
constexpr double kOnlineBytes = 32.3;
constexpr double kFlashBytes = 16.5;
constexpr double kCausalBytes = 8.8;

}  // namespace DEVICE::attention_bytes
