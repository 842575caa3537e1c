// bytes of a warp, not of an element | fused: fewer
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_predict {

constexpr double kFusedBytes = 512.0;
constexpr double kUnfusedBytes = 1152.0;
constexpr double kEverySecondBytes = 384.0;
constexpr double kBiasBytes = 288.0;
constexpr double kNeighboursBytes = 416.0;

}  // namespace DEVICE::multiply_add_predict
