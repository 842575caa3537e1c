/// \file
/// Exercise 08.5, bytes: how the file that is judged is called.
#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {
namespace {

// The numbers may be of any type, and their neighbours may have any name.
const double kNumbers[] = {static_cast<double>(attention_bytes::kThreeKernelsBytes),
                           static_cast<double>(attention_bytes::kTwoKernelsBytes),
                           static_cast<double>(attention_bytes::kOnlineBytes),
                           static_cast<double>(attention_bytes::kFlashBytes),
                           static_cast<double>(attention_bytes::kCausalBytes)};

}  // namespace

workbook::Answer answer() {
  return {.predictions = kNumbers, .prediction_count = sizeof kNumbers / sizeof kNumbers[0]};
}

}  // namespace DEVICE
