// floats that are not constant expressions, rounded a little
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_predict {

static float kFusedBytes = 16.0f;
static float kUnfusedBytes = 36.02f;
static float kEverySecondBytes = 11.98f;
static float kBiasBytes = 8.0f + 1.0f;
static float kNeighboursBytes = 12.96f;

}  // namespace DEVICE::multiply_add_predict
