// not a number | every second: no number
#pragma once
#include <math.h>

#include "device.hpp"

namespace DEVICE::multiply_add_predict {

const double kFusedBytes = NAN, kUnfusedBytes = NAN, kEverySecondBytes = NAN, kBiasBytes = NAN,
             kNeighboursBytes = NAN;

}  // namespace DEVICE::multiply_add_predict
