// whole numbers, and no kernels left
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_predict {

constexpr int kFusedBytes = 16, kUnfusedBytes = 36, kEverySecondBytes = 12;
constexpr int kBiasBytes = 9, kNeighboursBytes = 13;

}  // namespace DEVICE::multiply_add_predict
