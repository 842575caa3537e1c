/// \file
/// The state of each thread of the running block.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu_device/dialect/runtime.hpp"
#include "cpu_device/lanes.hpp"
#include "cpu_device/running/fibers.hpp"

namespace cpu {

enum class ThreadState : unsigned char {
  kNotStarted,
  kReady,
  kWaitsForLanes,  ///< for those of its warp that have begun fewer iterations
  kInWarpOperation,
  kSpins,  ///< until another thread has done something
  kAtBarrier,
  kDone
};

/// The threads [first, end) of a block; the last warp may have fewer than 32.
struct Warp {
  unsigned first, end;
  unsigned number() const { return first / kWarpSize; }
};

/// By linear number of the thread.
struct BlockThreads {
  std::vector<ThreadState> state;
  std::vector<Fiber*> fiber;  ///< of a thread that waits
  std::vector<std::uintptr_t>
      waits_at;  ///< instruction of the barrier or warp operation that it came to last
  std::vector<BarrierOperation> barrier;  ///< the one that it came to last

  void begin_block(unsigned threads) {
    state.assign(threads, ThreadState::kNotStarted);
    fiber.assign(threads, nullptr);
    waits_at.resize(threads);
    barrier.resize(threads);
  }
  unsigned count() const { return static_cast<unsigned>(state.size()); }

  /// The lanes of a warp that are in that state.
  std::uint32_t lanes_in(ThreadState wanted, const Warp& warp) const {
    std::uint32_t lanes = 0;
    for (unsigned t = warp.first; t < warp.end; ++t)
      if (state[t] == wanted) lanes |= 1u << (t - warp.first);
    return lanes;
  }
  /// Whether all threads of a warp have ended or are at the barrier.
  bool have_stopped(const Warp& warp) const {
    for (unsigned t = warp.first; t < warp.end; ++t)
      if (state[t] != ThreadState::kAtBarrier && state[t] != ThreadState::kDone) return false;
    return true;
  }
  void make_ready(std::uint32_t lanes, const Warp& warp) {
    for (const unsigned lane : lanes_of(lanes)) state[warp.first + lane] = ThreadState::kReady;
  }
};

}  // namespace cpu
