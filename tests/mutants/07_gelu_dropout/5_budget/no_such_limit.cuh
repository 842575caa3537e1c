// a limit that is not offered | limit of float32, 8 per call: no answer
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

constexpr double kBudgetFloat32 = 63.7, kBudgetBfloat16 = 31.9;
constexpr double kPerElement = 34.7, kPerCall = 95.3;
constexpr double kFloat32Needs8 = 46.6, kFloat32Needs16 = 40.6, kBfloat16Needs8 = 46.6;
constexpr Bottleneck kFloat32With1 = kIssue, kFloat32With4 = kMemory, kFloat32With8 = Bottleneck(3),
                     kFloat32With16 = kMemory;
constexpr Bottleneck kBfloat16With1 = kIssue, kBfloat16With4 = kIssue, kBfloat16With8 = kIssue,
                     kBfloat16With16 = kIssue;

}  // namespace DEVICE::gelu_dropout_budget
