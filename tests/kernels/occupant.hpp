/// \file
/// A kernel that keeps multiprocessors from others, for tests of kernels whose blocks wait for each other.
#pragma once

namespace gpu::test_kernels {

/// Occupies `blocks` multiprocessors, from construction to stop(), or for 5 seconds.
class Occupant {
 public:
  explicit Occupant(int blocks);
  ~Occupant();
  Occupant(const Occupant&) = delete;
  Occupant& operator=(const Occupant&) = delete;

  /// Ends the kernel. Returns whether all its blocks were still there.
  bool stop();

 private:
  void* stream_ = nullptr;
  volatile unsigned* stop_ = nullptr;      // the host sets it
  volatile unsigned* too_late_ = nullptr;  // blocks set it when their time is over
};

}  // namespace gpu::test_kernels
