// an enumeration of the five
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_predict {

enum Answer {
  kFusedBytes = 16,
  kUnfusedBytes = 36,
  kEverySecondBytes = 12,
  kBiasBytes = 9,
  kNeighboursBytes = 13
};

}  // namespace DEVICE::multiply_add_predict
