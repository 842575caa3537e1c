/// \file
/// __syncthreads(), and the vote that can go with it.
#pragma once

#include "cpu/block_threads.hpp"
#include "cpu/runtime.hpp"

namespace cpu {

class BlockBarrier {
 public:
  explicit BlockBarrier(BlockThreads& threads) : threads_(threads) {}

  void begin_block() { arrived_ = {0, 0}; }
  /// A thread arrives at the barrier, with a vote.
  void arrive(bool predicate) {
    ++arrived_.threads;
    arrived_.in_favour += predicate;
  }
  /// Every thread that has not ended has arrived: completes the barrier, and makes the threads ready.
  /// \throws Finding when they wait at several barriers
  void release();
  /// The vote of the last barrier that was completed.
  const BarrierVote& vote() const { return vote_; }

 private:
  [[noreturn]] void throw_divergent(unsigned one, unsigned other) const;

  BlockThreads& threads_;
  BarrierVote arrived_{0, 0};
  BarrierVote vote_{0, 0};
};

}  // namespace cpu
