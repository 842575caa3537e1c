// each number from one before it
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_predict {

const auto kFusedBytes = 4 * sizeof(float);
const auto kUnfusedBytes = 2 * kFusedBytes + 4.0;
const auto kEverySecondBytes = kUnfusedBytes / 3;
const auto kBiasBytes = 2 * sizeof(float) + 32 / 32;
const auto kNeighboursBytes = (128 + 160 + 128) / 32.;

}  // namespace DEVICE::multiply_add_predict
