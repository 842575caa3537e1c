/// \file
/// Which iteration of which loops a lane is in. The lanes of a warp run one after another here but together
/// on a GPU, so what they do in the same iteration is what the hardware does at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cpu_device/lanes.hpp"
#include "cpu_device/program_image/control_flow.hpp"

namespace cpu {

/// The loops around a place in a kernel, outermost first, and how often each has begun again. The code of a
/// called function that is not inlined is in the loops around the call, and in one more loop that stands for
/// the call.
struct Position {
  static constexpr unsigned kMostDepth = 12;  ///< loops nested deeper are not told apart

  struct Level {
    const Loop* loop;
    std::uint32_t count;
    std::uint64_t key;  ///< of this level and those around it

    void begin_again() {
      ++count;
      key += kOddStep;
    }
  };
  unsigned depth = 0;
  Level level[kMostDepth];

  /// Equal for equal positions; for others practically never.
  std::uint64_t key() const { return depth ? level[depth - 1].key : 0; }

  Position() = default;
  Position(const Position& other) { *this = other; }
  /// Copies only the levels in use.
  Position& operator=(const Position& other) {
    depth = other.depth;
    std::copy_n(other.level, depth, level);
    return *this;
  }
};

/// Iterations that a warp's fastest lane may begin before the others must have caught up: bounds the memory
/// that a loop takes, whatever its length.
constexpr unsigned kMostIterationsAhead = 16;

/// Whether `a` comes before `b` in the order in which one lane would pass them.
bool before(const Position& a, const Position& b);
/// Whether a lane at `now` can no longer come to `then`.
bool passed(const Position& then, const Position& now);

/// How far a lane has come in its kernel: a function and its last place there, and those that have called it.
struct LaneFlow {
  // These are needed at each place and access, so they share a cache line with what is before them
  // (fibers.hpp). The first three belong to the function.
  std::uintptr_t begin = 0;
  const ControlFlow::Slot* slots = nullptr;
  std::uint32_t size = 0;
  std::uint16_t loop = 0;          ///< number of the innermost one around `last`
  std::uint16_t base = 0;          ///< depth of the position at which the function was called
  std::uintptr_t last = 0;         ///< place
  std::uint64_t key = 0;           ///< of `position`
  std::uintptr_t called_from = 0;  ///< place of the last call, while the lane is still there
  unsigned iterations = 0;         ///< begun since the lane last waited for the others

  Position position;
  const ControlFlow* function = nullptr;
  unsigned calls = 0;  ///< from `called_from`

  struct Caller {
    const ControlFlow* function;
    std::uintptr_t last;
    std::uint16_t base;
    unsigned calls;  ///< from that place before this one
  };
  std::vector<Caller> callers;  ///< outermost first

  // The lane's last strong load, where several GPUs run (trace.cpp).
  std::uintptr_t polled_by = 0, polled = 0;
};

/// Follows lanes through one kernel.
class Iterations {
 public:
  /// The kernel's code contains the address `kernel`.
  void begin_launch(std::uintptr_t kernel);

  /// A lane starts the kernel.
  void start(LaneFlow& lane) const;
  /// A lane continues after a barrier of the whole block: it counts iterations from 0 again.
  static void resume(LaneFlow& lane);

  /// The lane comes to the place `block`. Returns false, and has done nothing, where `follow` must do it: the
  /// loops around the lane may change.
  static bool visit(LaneFlow& lane, std::uintptr_t block) {
    const std::uintptr_t offset = block - lane.begin;
    if (offset >= lane.size || lane.slots[offset / 4].quiet != lane.loop) return false;
    lane.last = block;
    return true;
  }
  /// The same where the innermost loop begins again, and nothing else changes.
  static bool repeat(LaneFlow& lane, std::uintptr_t block) {
    const std::uintptr_t offset = block - lane.begin;
    if (offset >= lane.size) return false;
    const ControlFlow::Slot& slot = lane.slots[offset / 4];
    if (!slot.latch || slot.latch != lane.last - lane.begin) return false;
    if (lane.position.depth != lane.base + slot.depth) return false;
    Position::Level& level = lane.position.level[lane.position.depth - 1];
    level.begin_again();
    lane.key = level.key;
    ++lane.iterations;
    lane.called_from = 0;
    lane.last = block;
    lane.loop = slot.place->loop;
    return true;
  }
  /// The same for all places. Returns whether it began another iteration, or may have: in code that is not
  /// followed.
  bool follow(LaneFlow& lane, std::uintptr_t block);

  /// Whether lanes have gone on from the same iteration of one of the loops in ways that could be the next
  /// iteration of different loops.
  bool ambiguous(const Position& position) const;
  /// Whether a lane has begun an iteration that could not be told from others.
  bool is_lost() const { return is_lost_; }

 private:
  const ControlFlow* function_at(std::uintptr_t address);
  bool go_to_place(LaneFlow& lane, std::uintptr_t block);
  bool take(LaneFlow& lane, const Place& place, const Step& step);
  void enter(Position& position, const Loop& loop) const;
  void enter_loops(LaneFlow& lane, const Place& place, std::size_t first) const;
  void go_to(LaneFlow& lane, const ControlFlow& function) const;
  void leave_call(LaneFlow& lane) const;
  void enter_call(LaneFlow& lane, const Place& from, const ControlFlow& function) const;
  void note_latch(const Position::Level& level, std::uintptr_t from);

  struct Latch {
    std::uint64_t key;  ///< of the iteration that ends
    std::uintptr_t from;
  };
  static constexpr unsigned kLatchBits = 10;

  const ControlFlow* kernel_ = nullptr;
  std::uintptr_t kernel_entry_ = 0;
  bool is_lost_ = false;
  std::unordered_map<std::uintptr_t, std::unique_ptr<ControlFlow>> functions_;  // by first address
  std::unordered_map<std::uintptr_t, const ControlFlow*> function_of_;  // by any address that was looked up
  std::vector<Latch> latches_ = std::vector<Latch>(1u << kLatchBits);   // the last of ambiguous loops, by key
  std::unordered_set<const Loop*> diverged_;                            // ambiguous loops
};

}  // namespace cpu
