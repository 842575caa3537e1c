// to the second decimal, in an array with the specification's name
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_predict {

constexpr double kNumbers[] = {16.00, 36.00, 12.00, 9.00, 13.00};
constexpr double kFusedBytes = kNumbers[0], kUnfusedBytes = kNumbers[1], kEverySecondBytes = kNumbers[2];
constexpr double kBiasBytes = kNumbers[3], kNeighboursBytes = kNumbers[4];

}  // namespace DEVICE::multiply_add_predict
