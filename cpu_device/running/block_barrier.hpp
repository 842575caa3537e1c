/// \file
/// __syncthreads(), and the vote that can go with it.
#pragma once

#include <optional>
#include <string>

#include "cpu_device/dialect/runtime.hpp"
#include "cpu_device/running/block_threads.hpp"

namespace cpu {

/// Its name in CUDA, such as "__syncthreads()".
const char* name_of(BarrierOperation operation);

class BlockBarrier {
 public:
  explicit BlockBarrier(BlockThreads& threads) : threads_(threads) {}

  void begin_block() { arrived_ = {0, 0}; }
  /// A thread arrives at the barrier, with a vote.
  void arrive(unsigned thread, BarrierOperation operation, bool predicate) {
    threads_.barrier[thread] = operation;
    ++arrived_.threads;
    arrived_.in_favour += predicate;
  }
  /// Every thread that has not ended has arrived: completes the barrier, and makes the threads ready.
  ///
  /// The hardware counts the threads that arrive (PTX ISA, barrier), so whole warps may come from different
  /// lines, and threads that have ended are not waited for: both get a note. But the lanes of one warp must
  /// come to the same instruction (.aligned), and all threads to the same operation (barrier.red).
  /// \throws Finding
  void release();
  /// Whether the last barrier that was completed is one of the whole grid.
  bool is_of_grid() const { return completed_ == BarrierOperation::kGrid; }
  /// The vote of the last barrier that was completed.
  const BarrierVote& vote() const { return vote_; }

 private:
  /// Two threads that wait.
  struct Pair {
    unsigned one, other;
  };
  void check_lines(const Pair& at_several_lines) const;
  std::optional<Pair> lanes_at_several_lines() const;
  void check_ended(unsigned waiting, unsigned ended) const;
  void note_ended(unsigned waiting, unsigned ended) const;
  [[noreturn]] void throw_mixed(const Pair& threads) const;
  std::string pair_text(const Pair& threads) const;

  BlockThreads& threads_;
  BarrierVote arrived_{0, 0};
  BarrierVote vote_{0, 0};
  BarrierOperation completed_ = BarrierOperation::kSync;
};

}  // namespace cpu
