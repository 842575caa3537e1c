// infinity, which is no number of bytes | unfused: no number
#pragma once
#include <math.h>

#include "device.hpp"

namespace DEVICE::multiply_add_predict {

const double kInfinity = HUGE_VAL;
const double kFusedBytes = 16, kUnfusedBytes = kInfinity, kEverySecondBytes = 12, kBiasBytes = 9,
             kNeighboursBytes = 13;

}  // namespace DEVICE::multiply_add_predict
