/// \file
/// Several GPUs, of which GPU 0 is the current one: its stream stands for all, is recorded as a graph and is
/// waited for.
#pragma once

#include "gpu/error.hpp"

namespace gpu {

/// While it exists, that GPU is the current one; afterwards GPU 0 is.
class CurrentGpu {
 public:
  explicit CurrentGpu(int gpu) { check(cudaSetDevice(gpu), "cudaSetDevice"); }
  ~CurrentGpu() { cudaSetDevice(0); }
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;
};

/// GPUs that are different cards, or that cannot reach each other's memory.
struct Unconnected : Error {
  using Error::Error;
};

/// Lets the GPUs 0 to count - 1 reach each other's memory. \throws Unconnected where they cannot
void connect_gpus(int count);

/// GPU 0's stream waits for what the others have been given.
void join_gpus();

}  // namespace gpu
