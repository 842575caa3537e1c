/// \file
/// Exercise 01.5, predict: how the file that is judged is called.
#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {
namespace {

using namespace multiply_add_predict;
const double kNumbers[] = {kFusedBytes, kUnfusedBytes, kEverySecondBytes, kBiasBytes, kNeighboursBytes};

}  // namespace

workbook::Answer answer() {
  return {.predictions = kNumbers, .prediction_count = sizeof kNumbers / sizeof kNumbers[0]};
}

}  // namespace DEVICE
