/// \file
/// Stage 3: the flags again, with less waiting. A fence orders all that a thread did before it against all
/// that it does afterwards, on all GPUs, and takes a microsecond. A store that releases and a load that
/// acquires order just what the flag hands over. The kernel is stage 2's.
#pragma once
#include <cuda/atomic>

#include "02_one_shot.cuh"

namespace DEVICE::several_gpus {

// [meet]
using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;

/// As ByFences.
struct ByRelease {
  static __device__ void meet_others(const OnGpus<unsigned>& flags, int gpus, int me) {
    __syncthreads();
    const int t = threadIdx.x;
    if (t < gpus) {
      const unsigned first = blockIdx.x * kMostGpus;
      const unsigned turn = flags.of[me][first + me] + 1;
      __syncwarp((1u << gpus) - 1);
      Flag(flags.of[t][first + me]).store(turn, cuda::std::memory_order_release);
      const Flag flag(flags.of[me][first + t]);
      const Deadline deadline;
      while (static_cast<int>(flag.load(cuda::std::memory_order_acquire) - turn) < 0) deadline.check();
    }
    __syncthreads();
  }
};
// [meet]

// --- On the host ---

struct Release : OneShot<BFloat16, ByRelease> {
  static constexpr Stage row = kNormalises<BFloat16>.with(
      {.name = "03_release", .idea = "flags by release and acquire, without fences"});
};

struct ReleaseFloat : OneShot<float, ByRelease> {
  static constexpr Stage row =
      kNormalises<float>.with({.name = "03_float32", .idea = "the same in float32", .against = "03_float32"});
};

}  // namespace DEVICE::several_gpus
