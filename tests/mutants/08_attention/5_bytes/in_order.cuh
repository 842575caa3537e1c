// the numbers are in the opposite order | three kernels: more
#pragma once
#include "device.hpp"

namespace DEVICE::attention_bytes {

constexpr double kThreeKernelsBytes = 8.75;
constexpr double kTwoKernelsBytes = 16.5;
constexpr double kOnlineBytes = 32.25;
constexpr double kFlashBytes = 36.25;
constexpr double kCausalBytes = 48.25;

}  // namespace DEVICE::attention_bytes
