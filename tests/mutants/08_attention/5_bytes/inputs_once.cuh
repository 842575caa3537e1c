// q, k and v are read once in all variants | three kernels: this reads q, k and v once
#pragma once
#include "device.hpp"

namespace DEVICE::attention_bytes {

constexpr double kThreeKernelsBytes = 25;
constexpr double kTwoKernelsBytes = 13;
constexpr double kOnlineBytes = 9;
constexpr double kFlashBytes = 1;
constexpr double kCausalBytes = 1;

}  // namespace DEVICE::attention_bytes
