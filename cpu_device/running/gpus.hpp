/// \file
/// Several virtual GPUs that run at the same time.
///
/// Each has an operating-system thread with a Device of its own, which runs the host code for that GPU and
/// the blocks that this launches. Only one of the threads runs at a time: it goes on until its GPU can do
/// nothing but wait for another, or has ended; then the next one does. So what happens is the same in each
/// run. When none can go on, the kernels wait for each other for ever.
///
/// A block of a GPU may wait for blocks of other GPUs, but not for a later block of its own: a kernel whose
/// block b waits for the blocks b of the others does not need more.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#include "cpu_device/gpu_launches.hpp"

namespace cpu {

struct Device;

/// The GPUs that run the code of one call of on_each_gpu().
class Gpus {
 public:
  Gpus(Device& caller, unsigned count, void (*body)(const void* what, int gpu), const void* what);

  /// Runs the code of all GPUs to its end. \throws what the first of them throws
  void run();

  GpuLaunches& launches() { return launches_; }
  const GpuLaunches& launches() const { return launches_; }
  unsigned count() const { return static_cast<unsigned>(gpus_.size()); }
  Device& device_of(unsigned gpu) const;
  /// Only while no other GPU runs.
  bool has_ended(unsigned gpu) const { return gpus_[gpu].ended; }

  /// The calling GPU can do nothing until another one has; `worked` tells whether it has done something since
  /// the last call. Lets the others run, and returns true when it may look again; false if no GPU can go on.
  /// \throws PartStopped when another one has ended with an error
  bool wait_for_others(bool worked);

 private:
  struct Gpu {
    bool ended = false;
    std::uint64_t seen = ~std::uint64_t{0};  ///< progress_ when it began to wait
  };

  void run_gpu(unsigned gpu) noexcept;
  bool wait_for_turn(unsigned gpu);
  bool pass_on(unsigned from);
  void end(unsigned gpu);

  Device& caller_;
  void (*body_)(const void*, int);
  const void* what_;
  GpuLaunches launches_;

  std::mutex mutex_;
  std::condition_variable turn_;
  std::vector<Gpu> gpus_;
  unsigned running_ = 0;
  std::uint64_t progress_ = 0;  // how often a GPU has done something before it waited, or has ended
  std::exception_ptr error_;
};

}  // namespace cpu
