/// \file
/// Kernels that crash or call what is the host's, and host code that uses what is the kernels'.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// out[t] = dividend / in[t], in the second half dividend % in[t]; 64 threads.
void quotients(int dividend, const int* in, int* out);
/// out[t] = 1 / in[t], of which a compiler may make comparisons; 64 threads.
void inverses(const int* in, int* out);

/// What thread 20 of 32 does before all store t in out[t].
enum class HostCall {
  kNone,
  kAbort,
  kOtherAbort,
  kExit,
  kOtherExit,
  kStandardExit,
  kExitAtOnce,
  kQuickExit,
  kTerminate,
  kThrow,
  kAtomic,
  kStatic,
  kLaunch,
  kTrapInstruction,
  kNullFunction
};
void call_host(int* out, HostCall call);

/// `blocks` blocks of 64 threads add 1 to x; a thread of the last one crashes where `crashes`.
void crash_in_last_block(int* x, int blocks, bool crashes);

/// What ends host code.
enum class HostCrash { kNone, kNull, kAbort, kTrap, kRecursion };
void crash_on_host(HostCrash crash);

/// What host code uses.
enum class KernelCall {
  kBarrier,
  kVote,
  kSyncWarp,
  kShuffle,
  kBallot,
  kActiveMask,
  kFence,
  kThreadIndex,
  kTrap,
  kDynamicShared,
  kCopy,
  kCommit,
  kFragment
};
int call_device(KernelCall call);

}  // namespace DEVICE::test_kernels
