/// \file
/// For kernels of several GPUs: a function in which their blocks wait for each other. Stage 1 of chapter 10
/// introduces it.
#pragma once
#include "deadline.hpp"
#include "device.hpp"
#include "on_gpus.hpp"

namespace DEVICE {

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
    __threadfence_system();  // what the others did is seen after their flag was
  }
  __syncthreads();
}
// [meet]

}  // namespace DEVICE
