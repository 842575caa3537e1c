// helper names that a specification may have as well
#pragma once
#include "device.hpp"

namespace DEVICE::attention_bytes {

constexpr int kQueries = 2048, kShape = 64, kElements = 128;
constexpr double kTiled = 4.0 * kElements / kShape, kOnce = 4.0 * kElements / kQueries, kScore = 4;
constexpr double kPredictions[] = {2 * kTiled + kScore, 4 * kScore, kScore + kTiled + kOnce};

constexpr double kThreeKernelsBytes = kPredictions[0] + kPredictions[1] + kPredictions[2];
constexpr double kTwoKernelsBytes = kPredictions[0] + kScore + kPredictions[2];
constexpr double kOnlineBytes = kPredictions[0] + kPredictions[2];
constexpr double kFlashBytes = 2 * kTiled + 2 * kOnce;
constexpr double kCausalBytes = 2 * kTiled * 33 / 64 + 2 * kOnce;

}  // namespace DEVICE::attention_bytes
