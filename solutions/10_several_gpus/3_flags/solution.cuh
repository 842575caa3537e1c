/// \file
/// Exercise 10.3, flags: let the blocks of several GPUs wait for each other.
///
/// __syncthreads() waits for the threads of one block. Write a meeting for the blocks that have the same
/// number on all GPUs: a block leaves it when the blocks of all other GPUs have come, and its threads
/// then see all that the threads of those have written before. Each GPU has flags in its memory: flag
/// [blockIdx.x * kMostGpus + g] of GPU `to` is set by GPU g. All are 0 at first, and none is ever reset.
///
/// The kernel around it is given: a block writes its part of x, meets the others, adds up x over all
/// GPUs, meets the others, and does all of that again. So turn is 1 at a block's first meeting, then 2,
/// 3 and so on, also from launch to launch.
///
/// Goal: right for 1 to 8 GPUs. In each meeting a block sets one flag in the memory of each GPU, and it polls
/// its own GPU's memory alone: no load of a flag goes over NVLink.
#pragma once
#include "deadline.hpp"
#include "device.hpp"
#include "on_gpus.hpp"

namespace DEVICE::meeting_flags {

/// All threads of a block call it; there are at least 32. This GPU has number `me` of `gpus`.
/// flags.of[to][blockIdx.x * kMostGpus + g] tells GPU `to` in which turn this block of GPU g has come last.
__device__ inline void wait_for_others(const OnGpus<unsigned>& flags, int gpus, int me, unsigned turn) {
  // BEGIN SOLUTION
  __syncthreads();  // all threads of this block have come
  const int t = threadIdx.x;
  if (t < gpus) {
    const unsigned first = blockIdx.x * kMostGpus;
    __threadfence_system();  // what this block did is seen before the flag is
    *static_cast<volatile unsigned*>(flags.of[t] + first + me) = turn;
    const volatile unsigned* const flag = flags.of[me] + first + t;
    const Deadline deadline;
    while (*flag < turn) deadline.check();
    __threadfence_system();  // what the other block did is seen after the flag was
  }
  __syncthreads();
  // SKELETON
  // // TODO: this waits for the block's own threads alone.
  // __syncthreads();
  // END SOLUTION
}

}  // namespace DEVICE::meeting_flags
