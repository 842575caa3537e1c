/// \file
/// For kernels that several GPUs run at the same time: their blocks wait for each other, by flags in each
/// other's memory.
#pragma once
#include "deadline.hpp"
#include "problem.cuh"

namespace DEVICE::several_gpus {

// [meet]
/// The blocks with this block's number on all GPUs wait for each other: what their threads did before, those
/// of the others see afterwards. All threads of the block call it. Each GPU has kMostGpus flags for each
/// block, zeros at first: from each GPU, how often that one has come. `me` is the number of this GPU.
__device__ inline void meet(const OnGpus<unsigned>& flags, int gpus, int me) {
  __syncthreads();  // all threads of this block have come
  const int t = threadIdx.x;
  if (t < gpus) {
    const unsigned first = blockIdx.x * kMostGpus;
    const unsigned turn = flags.of[me][first + me] + 1;
    __syncwarp((1u << gpus) - 1);  // all of them have read it
    __threadfence_system();        // what this block did is seen before the flag is
    *static_cast<volatile unsigned*>(flags.of[t] + first + me) = turn;
    const volatile unsigned* const flag = flags.of[me] + first + t;
    const Deadline deadline;
    while (static_cast<int>(*flag - turn) < 0) deadline.check();
    __threadfence_system();
  }
  __syncthreads();
}
// [meet]

// --- On the host ---

/// What so many meetings of so many blocks cost at the least: each sets a flag on each GPU, reads its own
/// count, and finds each flag set when it looks first.
inline Traffic meetings_traffic(const Shape& s, int blocks, int meetings) {
  const long long times = 32ll * meetings * blocks * gpus(s);
  Traffic traffic = {2 * times, gpus(s) * times, 2 * times};
  traffic.peer_write_bytes = (gpus(s) - 1) * times;
  return traffic;
}

}  // namespace DEVICE::several_gpus
