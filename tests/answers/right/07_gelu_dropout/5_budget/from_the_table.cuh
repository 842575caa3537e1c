// needs as the lesson's table has them, with float
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

constexpr float kBudgetFloat32 = 63.7f, kBudgetBfloat16 = kBudgetFloat32 / 2;
constexpr float kPerElement = 34.67f, kPerCall = 95.33f;
constexpr float kFloat32Needs8 = 48.2f, kFloat32Needs16 = 41.6f, kBfloat16Needs8 = 46.6f;
constexpr Bottleneck kFloat32With1 = kIssue, kFloat32With4 = kMemory, kFloat32With8 = kMemory,
                     kFloat32With16 = kMemory;
constexpr Bottleneck kBfloat16With1 = kIssue, kBfloat16With4 = kIssue, kBfloat16With8 = kIssue,
                     kBfloat16With16 = kIssue;

}  // namespace DEVICE::gelu_dropout_budget
