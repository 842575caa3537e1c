/// \file
/// Runs the threads of a block. One runs at a time, until it ends or must wait; then the next one does. Each
/// thread that waits keeps a stack of its own; those that never wait share one.
#pragma once

#include <cstdint>
#include <optional>

#include "cpu/block_barrier.hpp"
#include "cpu/block_threads.hpp"
#include "cpu/device.hpp"
#include "cpu/fibers.hpp"
#include "cpu/finding.hpp"
#include "cpu/runtime.hpp"
#include "cpu/warp_operations.hpp"

namespace cpu {

class Scheduler {
 public:
  Scheduler();

  /// Runs all threads of a block to their end. \throws Finding
  void run_block(unsigned threads);
  /// Makes the scheduler ready for another launch after one that was ended early.
  void abandon();
  const Region& stacks() const { return fibers_.stacks(); }

  // What the running thread calls. Each suspends it.

  /// Waits for the other threads of the block.
  BarrierVote barrier(bool predicate, std::uintptr_t instruction);
  /// Waits for the lanes that the call names, and returns its result.
  std::uint64_t warp_operation(const WarpCall& call, std::uintptr_t instruction);
  /// Waits for the lanes of the warp that have begun fewer iterations.
  void wait_for_warp() { wait(ThreadState::kWaitsForLanes); }
  /// Ends the launch: `run_block` throws the mistake's Finding.
  [[noreturn]] void stop(const Mistake& mistake);

 private:
  void run_warp(const Warp& warp);
  bool catch_up(const Warp& warp);
  void start_from(unsigned thread);
  void run_threads();
  void switch_to(Fiber* fiber);
  void make_current(unsigned thread);
  void wait(ThreadState state);

  BlockThreads threads_;
  BlockBarrier barrier_{threads_};
  WarpOperations warp_operations_{threads_};
  Fibers fibers_;
  Warp warp_{0, 0};       // that runs
  unsigned current_ = 0;  // thread that runs
  unsigned next_ = 0;     // thread that the running fiber starts when its current one has ended
  unsigned done_ = 0;     // threads that have ended
  std::optional<Mistake> mistake_;
};

/// The calling thread's. Inline because every barrier comes here.
inline Scheduler& scheduler() { return *device().scheduler; }

}  // namespace cpu
