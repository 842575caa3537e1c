// minus infinity | neighbours: no number
#pragma once
#include <math.h>

#include "device.hpp"

namespace DEVICE::multiply_add_predict {

const double kFusedBytes = 16, kUnfusedBytes = 36, kEverySecondBytes = 12, kBiasBytes = 9,
             kNeighboursBytes = -HUGE_VAL;

}  // namespace DEVICE::multiply_add_predict
