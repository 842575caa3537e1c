// functions of bytes and of elements per call; limits follow from numbers
#pragma once
#include "device.hpp"

namespace DEVICE::gelu_dropout_budget {

/// An H200. In each cycle a scheduler can issue one instruction, which the lanes of a warp execute.
constexpr int kMultiprocessors = 132, kSchedulers = 4, kLanes = 32;
constexpr double kClock = 1.98e9;      // cycles per second, at most
constexpr double kBandwidth = 4.2e12;  // bytes per second: what stage 10 of chapter 04 reads and writes

/// Instructions of a thread in two kernels of this chapter, in float32 and with one call per thread: `fused`,
/// which has one element per thread, and `share_calls`, which has four.
constexpr int kInstructionsWith1 = 130, kInstructionsWith4 = 234;

/// What limits a kernel.
enum Bottleneck { kNoAnswer, kMemory, kIssue };

constexpr double budget(int bytes) {
  return kMultiprocessors * kSchedulers * kLanes * kClock / kBandwidth * bytes;
}
constexpr double kBudgetFloat32 = budget(8), kBudgetBfloat16 = budget(4);

constexpr double kPerElement = (kInstructionsWith4 - kInstructionsWith1) / (4.0 - 1.0);
constexpr double kPerCall = kInstructionsWith4 - 4 * kPerElement;

constexpr double needs(int elements) { return kPerElement + kPerCall / elements; }
constexpr double kFloat32Needs8 = needs(8), kFloat32Needs16 = needs(16), kBfloat16Needs8 = needs(8);

constexpr Bottleneck limit(int elements, double available) {
  return needs(elements) > available ? kIssue : kMemory;
}
constexpr Bottleneck kFloat32With1 = limit(1, kBudgetFloat32), kFloat32With4 = limit(4, kBudgetFloat32);
constexpr Bottleneck kFloat32With8 = limit(8, kBudgetFloat32), kFloat32With16 = limit(16, kBudgetFloat32);
constexpr Bottleneck kBfloat16With1 = limit(1, kBudgetBfloat16), kBfloat16With4 = limit(4, kBudgetBfloat16);
constexpr Bottleneck kBfloat16With8 = limit(8, kBudgetBfloat16), kBfloat16With16 = limit(16, kBudgetBfloat16);

}  // namespace DEVICE::gelu_dropout_budget
