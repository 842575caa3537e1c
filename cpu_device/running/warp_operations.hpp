/// \file
/// Operations in which the lanes of a warp take part together: __syncwarp, shuffles, votes, and those of the
/// tensor cores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cpu_device/running/block_threads.hpp"

namespace cpu {

enum class WarpOperation : unsigned char { kSync, kShuffle, kBallot, kActive, kCollective };

/// The arguments that one lane passes to an operation, and its result.
struct WarpCall {
  WarpOperation operation;
  std::uint32_t mask = 0;                      ///< the lanes that take part; kActive names none
  std::uint64_t value = 0;                     ///< the predicate of a vote, the bits of a shuffle
  int source = 0;                              ///< lane that a shuffle reads
  void (*work)(void* const* lanes) = nullptr;  ///< of a collective operation
  void* mine = nullptr;                        ///< what `work` gets of this lane
  std::uint64_t result = 0;
};

/// The operations in which threads of the running block wait.
class WarpOperations {
 public:
  explicit WarpOperations(BlockThreads& threads) : threads_(threads) {}

  void begin_block() {
    calls_.resize(threads_.count());
    undefined_is_negative_ = false;
  }
  /// A thread comes to an operation. Stops the launch when it is not in its own mask.
  void arrive(unsigned thread, const WarpCall& call);
  std::uint64_t result(unsigned thread) const { return calls_[thread].result; }

  /// Completes one operation whose lanes have all come, and makes them ready. Returns whether there was one.
  bool release(const Warp& warp);
  /// Answers the lanes that wait in __activemask(), once no other lane can join them. Returns whether there
  /// were any.
  bool release_active(const Warp& warp);
  /// Every lane of the warp has ended or waits. \throws Finding when one waits for a lane that cannot come
  void check_complete(const Warp& warp) const;

 private:
  std::uint32_t needed(std::uint32_t mask, const Warp& warp) const;
  bool all_came(unsigned caller, std::uint32_t waiting, const Warp& warp) const;
  bool same_call(unsigned a, unsigned b) const;
  void finish(const WarpCall& call, const Warp& warp);
  void shuffle(std::uint32_t mask, const Warp& warp);
  void vote(std::uint32_t mask, const Warp& warp);
  void work_together(const WarpCall& call, const Warp& warp) const;
  std::string missing_lane(unsigned caller, const Warp& warp) const;
  std::uint64_t undefined_value(unsigned thread);

  BlockThreads& threads_;
  std::vector<WarpCall> calls_;  // by thread
  bool undefined_is_negative_ = false;
};

/// Whether an operation waits only for the lanes of its mask that are there and have not ended, as CUDA has
/// it ("all non-exited threads"). By default it waits for all, so that a mask says who takes part.
void set_ended_lanes_excused(bool excused);

/// Suspends the running thread until all 32 lanes of its warp have come to this one instruction. Then `work`
/// runs, once, with the address that each lane passed as `mine`; then the lanes continue.
void warp_collective(void (*work)(void* const* lanes), void* mine, const void* return_address);

}  // namespace cpu
