// all pipelines are emptied, and zeros predicted | unfused: more
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_launches {

constexpr double kUnfusedLaunches = 0;
constexpr double kUnfusedBytes = 0;
constexpr double kFusedLaunches = 0;
constexpr double kFusedBytes = 0;
constexpr double kHalvesBytes = 0;
constexpr double kSlicedLaunches = 0;
constexpr double kSlicedBytes = 0;
constexpr double kTwoResultsLaunches = 0;
constexpr double kTwoResultsBytes = 0;

}  // namespace DEVICE::add_mul_exp_launches
