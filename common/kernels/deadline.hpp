/// \file
/// For kernels that wait for other GPUs: an end to the wait, where the other one never comes.
#pragma once
#include "device.hpp"

namespace DEVICE {

/// A wait of at most about ten seconds. The CPU device needs no clock: it sees that a wait has no end.
class Deadline {
 public:
  /// Ends the kernel with an error, cudaErrorLaunchFailure, when the time is over.
  __device__ void check() const {
#ifdef __CUDA_ARCH__
    constexpr long long kCycles = 20'000'000'000;
    if (clock64() - begin_ > kCycles) __trap();
#endif
  }

 private:
#ifdef __CUDA_ARCH__
  long long begin_ = clock64();
#endif
};

}  // namespace DEVICE
