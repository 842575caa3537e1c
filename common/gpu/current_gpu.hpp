/// \file
/// Several GPUs, of which GPU 0 is the current one: its stream stands for all, is recorded as a graph and is
/// waited for.
#pragma once

#include <optional>
#include <string>

#include "gpu/error.hpp"

namespace gpu {

/// In one of several processes that share a problem: the number of its GPU, which is the current one. Nothing
/// where one process has them all.
inline std::optional<int> own_gpu;

/// While it exists, that GPU is the current one; afterwards GPU 0 is.
class CurrentGpu {
 public:
  explicit CurrentGpu(int gpu) { check(cudaSetDevice(gpu), "cudaSetDevice"); }
  ~CurrentGpu() { cudaSetDevice(0); }
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;
};

/// Such as "NVIDIA H200".
std::string gpu_name(int gpu);

/// Whether kernels on `gpu` can read and write the memory of `other`.
bool can_reach(int gpu, int other);

/// Lets the GPUs 0 to count - 1 reach each other's memory, where they can.
void connect_gpus(int count);

/// GPU 0's stream waits for what the others have been given.
void join_gpus();

}  // namespace gpu
