// nothing of what the file gives is left, and the limits are plain numbers
#pragma once
#include "device.hpp"

namespace DEVICE::gelu_dropout_budget {

constexpr double kBudgetFloat32 = 63.7, kBudgetBfloat16 = 31.85;
constexpr double kPerElement = 34.7, kPerCall = 95.3;
constexpr double kFloat32Needs8 = 46.6, kFloat32Needs16 = 40.6, kBfloat16Needs8 = 46.6;
constexpr int kFloat32With1 = 2, kFloat32With4 = 1, kFloat32With8 = 1, kFloat32With16 = 1;
constexpr int kBfloat16With1 = 2, kBfloat16With4 = 2, kBfloat16With8 = 2, kBfloat16With16 = 2;

}  // namespace DEVICE::gelu_dropout_budget
