// sectors of a warp times the bytes of a sector, over 32 elements
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_predict {

constexpr double kSector = 32.0, kLanes = 32.0;
constexpr double bytes(double sectors) { return sectors * kSector / kLanes; }

constexpr double kFusedBytes = bytes(3 * 4 + 4);
constexpr double kUnfusedBytes = 3 * bytes(2 * 4 + 4);
constexpr double kEverySecondBytes = bytes(8 + 4);
constexpr double kBiasBytes = bytes(4 + 1 + 4);
constexpr double kNeighboursBytes = bytes(4 + 5 + 4);

}  // namespace DEVICE::multiply_add_predict
