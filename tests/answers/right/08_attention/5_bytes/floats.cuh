// float, in one line
#pragma once
#include "device.hpp"

namespace DEVICE::attention_bytes {

constexpr float kThreeKernelsBytes = 48.25f, kTwoKernelsBytes = 36.25f, kOnlineBytes = 32.25f,
                kFlashBytes = 16.5f, kCausalBytes = 8.75f;

}  // namespace DEVICE::attention_bytes
