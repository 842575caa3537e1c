/// \file
/// Kernels that several GPUs run at the same time.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// An array of each GPU.
struct OnGpus {
  int* of[8];
};

/// The mistake in exchange(), if there is one.
enum class Exchange {
  kRight,
  kRightByAtomics,       ///< the flag is set by atomicExch_system()
  kRightByAtomicPolls,   ///< atomicAdd_system() of 0 polls it
  kRightByRelaxedPolls,  ///< __ldcv() polls it
  kRightInTwoLaunches,   ///< x is stored by a launch before the one that hands it over
  kNoBarrier,            ///< no __syncthreads() before the flag is set
  kNoFence,              ///< none before the flag is set
  kFenceOfDevice,        ///< __threadfence() there
  kAtomicOfDevice,       ///< the flag is set by atomicExch()
  kNoWait,               ///< nobody waits for the flag
  kNoFenceAfter,         ///< none between the wait and the loads of x
  kFenceOfDeviceAfter,   ///< __threadfence() there
  kOtherValue,           ///< the flag is set to 1 and 2 is waited for
  kOtherGpu,             ///< GPU 0 sets its own flag in place of the last GPU's
};

/// On each of `gpus` GPUs, with `blocks` blocks of 64 threads: x[i] = 100000 * gpu + i; then each hands its x
/// over to the others, by flags, of which a GPU has gpus * blocks, all 0; and out[i] is the sum of all x[i].
/// x and out have 64 * blocks elements.
void exchange(int gpus, int blocks, const OnGpus& flags, const OnGpus& x, const OnGpus& out, Exchange how);

/// Two GPUs, one thread each: both add 1 to count[0] of GPU 0 that many times, by atomicAdd_system().
void count_together(int* count, int times);

/// Two GPUs copy each other's x to out; GPU 1 reads past the end of its 32 elements.
void read_past_end(const OnGpus& x, const OnGpus& out);

}  // namespace DEVICE::test_kernels
