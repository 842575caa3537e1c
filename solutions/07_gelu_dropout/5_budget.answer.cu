/// \file
/// Exercise 07.5, budget: how the file that is judged is called.
#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {
namespace {

// The numbers may be of any type, and their neighbours may have any name.
const double kNumbers[] = {static_cast<double>(gelu_dropout_budget::kBudgetFloat32),
                           static_cast<double>(gelu_dropout_budget::kBudgetBfloat16),
                           static_cast<double>(gelu_dropout_budget::kPerElement),
                           static_cast<double>(gelu_dropout_budget::kPerCall),
                           static_cast<double>(gelu_dropout_budget::kFloat32Needs8),
                           static_cast<double>(gelu_dropout_budget::kFloat32Needs16),
                           static_cast<double>(gelu_dropout_budget::kBfloat16Needs8),
                           static_cast<double>(gelu_dropout_budget::kFloat32With1),
                           static_cast<double>(gelu_dropout_budget::kFloat32With4),
                           static_cast<double>(gelu_dropout_budget::kFloat32With8),
                           static_cast<double>(gelu_dropout_budget::kFloat32With16),
                           static_cast<double>(gelu_dropout_budget::kBfloat16With1),
                           static_cast<double>(gelu_dropout_budget::kBfloat16With4),
                           static_cast<double>(gelu_dropout_budget::kBfloat16With8),
                           static_cast<double>(gelu_dropout_budget::kBfloat16With16)};

}  // namespace

workbook::Answer answer() {
  return {.predictions = kNumbers, .prediction_count = sizeof kNumbers / sizeof kNumbers[0]};
}

}  // namespace DEVICE
