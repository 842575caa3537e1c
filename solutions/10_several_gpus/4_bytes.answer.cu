/// \file
/// Exercise 10.4, bytes: how the file that is judged is called.
#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {
namespace {

// The numbers may be of any type, and their neighbours may have any name.
const double kNumbers[] = {
    static_cast<double>(bytes_of_gpus::kOneShotOf2),    static_cast<double>(bytes_of_gpus::kOneShotOf4),
    static_cast<double>(bytes_of_gpus::kOneShotOf8),    static_cast<double>(bytes_of_gpus::kTwoShotOf2),
    static_cast<double>(bytes_of_gpus::kTwoShotOf4),    static_cast<double>(bytes_of_gpus::kTwoShotOf8),
    static_cast<double>(bytes_of_gpus::kUnfusedMemory), static_cast<double>(bytes_of_gpus::kOneShotMemory),
    static_cast<double>(bytes_of_gpus::kTwoShotMemory), static_cast<double>(bytes_of_gpus::kNormsOfOneShot),
    static_cast<double>(bytes_of_gpus::kFaster)};

}  // namespace

workbook::Answer answer() {
  return {.predictions = kNumbers, .prediction_count = sizeof kNumbers / sizeof kNumbers[0]};
}

}  // namespace DEVICE
