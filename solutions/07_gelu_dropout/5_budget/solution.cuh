/// \file
/// Exercise 07.5, budget: do bytes limit GELU and dropout, or instructions?
///
/// Numbers, not code. While memory moves the bytes of one element, an H200 issues a certain number of
/// instructions: the element's budget. No kernel uses every issue slot, so all slots would be an upper bound;
/// the budget counts the share that `fused` uses, which memory does not limit. A kernel that needs more per
/// element is limited by the issue of instructions, any other by memory. y = dropout(gelu(x)) reads x and
/// writes y once, both in float32 or both in bfloat16, and each Philox call serves one, four, eight or
/// sixteen elements of its thread. A thread executes some instructions per call, however many elements the
/// call serves, and some for each element. Both follow from two kernels whose instructions are given below.
/// Take them for bfloat16 as well.
///
/// Goal: the two budgets, and the instructions per call and per element, to 2 %; what an element needs in
/// three other kernels, to 7 %; and what limits each of eight kernels.
#pragma once
#include "device.hpp"

namespace DEVICE::gelu_dropout_budget {

/// An H200. In each cycle a scheduler can issue one instruction, which the lanes of a warp execute.
constexpr int kMultiprocessors = 132, kSchedulers = 4, kLanes = 32;
constexpr double kClock = 1.98e9;      // cycles per second, at most
constexpr double kUsed = 0.65;         // of all issue slots: the share that `fused` uses, measured
constexpr double kBandwidth = 4.2e12;  // bytes per second: what stage 10 of chapter 04 reads and writes

/// Instructions of a thread in two kernels of this chapter, in float32 and with one call per thread: `fused`,
/// which has one element per thread, and `share_calls`, which has four.
constexpr int kInstructionsWith1 = 110, kInstructionsWith4 = 209;

/// What limits a kernel.
enum Bottleneck { kNoAnswer, kMemory, kIssue };

// BEGIN SOLUTION
// The budgets: instructions per element, each counted once for each lane that executes it.
constexpr double kSlotsPerSecond = kClock * kMultiprocessors * kSchedulers * kLanes;  // of all schedulers
constexpr double kIssuedPerSecond = kUsed * kSlotsPerSecond;  // of all slots, those that are used
constexpr double kBudgetFloat32 = kIssuedPerSecond * (4 + 4) / kBandwidth;   // x and y
constexpr double kBudgetBfloat16 = kIssuedPerSecond * (2 + 2) / kBandwidth;  // half the bytes, half the time

// Instructions of a thread: per element, and once per thread: its call of Philox, its address and so on.
constexpr double kPerElement = (kInstructionsWith4 - kInstructionsWith1) / 3.0;  // three more elements
constexpr double kPerCall = kInstructionsWith1 - kPerElement;                    // all but its one element

// Instructions that an element needs if a call serves so many.
constexpr double kFloat32Needs8 = kPerElement + kPerCall / 8;    // an eighth of a call
constexpr double kFloat32Needs16 = kPerElement + kPerCall / 16;  // a sixteenth
constexpr double kBfloat16Needs8 = kPerElement + kPerCall / 8;   // half the bytes, the same work

// What limits a kernel if a call serves so many elements: kMemory or kIssue.
constexpr Bottleneck kFloat32With1 = kIssue;  // 2.7 times the budget
constexpr Bottleneck kFloat32With4 = kIssue;
constexpr Bottleneck kFloat32With8 = kIssue;
constexpr Bottleneck kFloat32With16 = kMemory;
constexpr Bottleneck kBfloat16With1 = kIssue;
constexpr Bottleneck kBfloat16With4 = kIssue;
constexpr Bottleneck kBfloat16With8 = kIssue;
constexpr Bottleneck kBfloat16With16 = kIssue;  // kPerElement alone is more than the budget
// SKELETON
// // The budgets: instructions per element, each counted once for each lane that executes it.
// constexpr double kBudgetFloat32 = 0.0;
// constexpr double kBudgetBfloat16 = 0.0;
//
// // Instructions of a thread: per element, and once per thread: its call of Philox, its address and so on.
// constexpr double kPerElement = 0.0;
// constexpr double kPerCall = 0.0;
//
// // Instructions that an element needs if a call serves so many.
// constexpr double kFloat32Needs8 = 0.0;
// constexpr double kFloat32Needs16 = 0.0;
// constexpr double kBfloat16Needs8 = 0.0;
//
// // What limits a kernel if a call serves so many elements: kMemory or kIssue.
// constexpr Bottleneck kFloat32With1 = kNoAnswer;
// constexpr Bottleneck kFloat32With4 = kNoAnswer;
// constexpr Bottleneck kFloat32With8 = kNoAnswer;
// constexpr Bottleneck kFloat32With16 = kNoAnswer;
// constexpr Bottleneck kBfloat16With1 = kNoAnswer;
// constexpr Bottleneck kBfloat16With4 = kNoAnswer;
// constexpr Bottleneck kBfloat16With8 = kNoAnswer;
// constexpr Bottleneck kBfloat16With16 = kNoAnswer;
// END SOLUTION

}  // namespace DEVICE::gelu_dropout_budget
