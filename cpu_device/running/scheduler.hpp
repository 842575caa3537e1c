/// \file
/// Runs the threads of a block. One runs at a time, until it ends or must wait; then the next one does. Each
/// thread that waits keeps a stack of its own; those that never wait share one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpu_device/counting/iterations.hpp"
#include "cpu_device/dialect/runtime.hpp"
#include "cpu_device/findings/finding.hpp"
#include "cpu_device/running/block_barrier.hpp"
#include "cpu_device/running/block_threads.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/fibers.hpp"
#include "cpu_device/running/spin_probe.hpp"
#include "cpu_device/running/warp_operations.hpp"

namespace cpu {

class Scheduler {
 public:
  Scheduler();

  /// Runs all threads of a block to their end, and returns true; or until they wait for other blocks at
  /// grid.sync(), and returns false. \throws Finding
  bool run_block(unsigned threads);
  /// The threads of a block that waits for others.
  struct Waiting {
    BlockThreads threads;
    unsigned done;
    std::vector<Fibers::Kept> fibers;
  };
  /// After run_block() has returned false: another block may run.
  Waiting leave_block();
  /// Goes on with the block where it was left. Returns what run_block() does.
  bool go_on_with(const Waiting& block);
  /// Makes the scheduler ready for another launch after one that was ended early.
  void abandon();
  const Region& stacks() const { return fibers_.stacks(); }
  /// Where a thread waits for the others of its block: the instruction of the barrier. 0 when none does.
  std::uintptr_t waiting_at() const;
  /// What waiting_thread() says of a block in which no thread can go on.
  std::string waiting_thread() const;

  // Called by the running thread. Each call suspends it.

  /// Waits for the other threads of the block.
  BarrierVote barrier(BarrierOperation operation, bool predicate, std::uintptr_t instruction);
  /// Waits for the lanes that the call names, and returns its result.
  std::uint64_t warp_operation(const WarpCall& call, std::uintptr_t instruction);
  /// Waits for the lanes of the warp that have begun fewer iterations.
  void wait_for_warp() { wait(ThreadState::kWaitsForLanes); }
  /// Waits until another thread has done something: the running one spins. `again`: it was resumed, and
  /// nothing that it polls had changed.
  void spin(Spin&& spin, bool again);
  /// Gives back what the running thread passed to `spin`.
  Spin&& take_spin() { return static_cast<Spin&&>(spins_[current_]); }
  /// Where the running thread's stack ends.
  const void* stack_top() const { return fibers_.running()->stack_top(); }
  /// Ends the launch: `run_block` throws the mistake's Finding.
  [[noreturn]] void stop(const Mistake& mistake);
  /// Ends a worker's part of a grid: `run_block` throws PartStopped.
  [[noreturn]] void stop_part();

 private:
  bool run_threads_of_block();
  bool let_other_gpus_run();
  bool run_warp(const Warp& warp);
  void run_ready_lanes(const Warp& warp);
  bool catch_up(const Warp& warp);
  bool wake_spinning(const Warp& warp);
  void let_all_go_on(const Warp& warp);
  bool others_can_run(const Warp& warp) const;
  void pause(const Warp& warp);
  bool resume(const Warp& warp);
  void start_from(unsigned thread);
  void run_threads();
  void switch_to(Fiber* fiber);
  void note_progress();
  void leave_turn();
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
  bool part_stopped_ = false;

  // Threads that spin. Whatever a thread does may be what another one waits for, so each time that one has
  // run counts as progress, unless it only polled again.
  std::uint64_t progress_ = 0;
  std::uint64_t resumed_at_ = 0;     // the progress when other GPUs had had their turn
  bool had_its_turn_ = false;        // a warp, of a GPU beside others, has run for long without an end
  bool only_polled_ = false;         // all that the running thread did
  std::vector<Spin> spins_;          // by thread
  std::vector<std::uint64_t> seen_;  // by thread: the progress when it polled last

  // Warps that were left before all their lanes had ended or come to the barrier, by number.
  std::vector<bool> paused_;
};

/// The calling thread's. Inline because every barrier comes here.
inline Scheduler& scheduler() { return *device().scheduler; }

}  // namespace cpu
