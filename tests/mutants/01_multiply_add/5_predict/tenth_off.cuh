// off by a little more than rounding | bias: fewer
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_predict {

constexpr double kFusedBytes = 16.0;
constexpr double kUnfusedBytes = 36.0;
constexpr double kEverySecondBytes = 12.0;
constexpr double kBiasBytes = 9.1;
constexpr double kNeighboursBytes = 13.0;

}  // namespace DEVICE::multiply_add_predict
