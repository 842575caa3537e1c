// limits as an enumeration of its own, found with <
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

constexpr auto kBudgetFloat32 = 132 * 128 * 1980.0 / 4200.0 / 1000 * 8;
constexpr auto kBudgetBfloat16 = 132 * 128 * 1980.0 / 4200.0 / 1000 * 4;
constexpr auto kPerElement = 104.0 / 3;
constexpr auto kPerCall = 130 - 104.0 / 3;
constexpr auto kFloat32Needs8 = 104.0 / 3 + (130 - 104.0 / 3) / 8;
constexpr auto kFloat32Needs16 = 104.0 / 3 + (130 - 104.0 / 3) / 16;
constexpr auto kBfloat16Needs8 = kFloat32Needs8;

enum class Limited { kByMemory = 1, kByIssue = 2 };
constexpr Limited limited(bool enough) { return enough ? Limited::kByMemory : Limited::kByIssue; }
constexpr Limited kFloat32With1 = limited(130 < kBudgetFloat32);
constexpr Limited kFloat32With4 = limited(234 / 4.0 < kBudgetFloat32);
constexpr Limited kFloat32With8 = limited(kFloat32Needs8 < kBudgetFloat32);
constexpr Limited kFloat32With16 = limited(kFloat32Needs16 < kBudgetFloat32);
constexpr Limited kBfloat16With1 = limited(130 < kBudgetBfloat16);
constexpr Limited kBfloat16With4 = limited(234 / 4.0 < kBudgetBfloat16);
constexpr Limited kBfloat16With8 = limited(kBfloat16Needs8 < kBudgetBfloat16);
constexpr Limited kBfloat16With16 = limited(kFloat32Needs16 < kBudgetBfloat16);

}  // namespace DEVICE::gelu_dropout_budget
