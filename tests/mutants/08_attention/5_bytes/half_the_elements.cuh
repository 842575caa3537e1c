// all of it for d = 64, as in the chapter's tables | two kernels: this is the traffic with d = 64
#pragma once
#include "device.hpp"

namespace DEVICE::attention_bytes {

constexpr double kThreeKernelsBytes = 36.125;
constexpr double kTwoKernelsBytes = 24.125;
constexpr double kOnlineBytes = 20.125;
constexpr double kFlashBytes = 8.25;
constexpr double kCausalBytes = 4.375;

}  // namespace DEVICE::attention_bytes
