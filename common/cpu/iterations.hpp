/// \file
/// Which iteration of which loops a lane is in. The lanes of a warp run one after another here but together
/// on a GPU, so what they do in the same iteration is what the hardware does at once.
///
/// The compiler calls the device at the start of each basic block (-fsanitize=coverage=trace-pc), and keeps
/// blocks in the order of the source (-fno-reorder-blocks). A jump to a lower address, to a block that the
/// lane has already run in this iteration, begins another iteration of the loop that starts there. A step
/// past the block that jumped leaves the loop. A jump to a lower address that the lane has not yet run leads
/// into the middle of a loop if the lane then comes to a block that it has run; if not, it leads to code that
/// the compiler has moved out of line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cpu/lanes.hpp"

namespace cpu {

struct Loop {
  std::uintptr_t header;  ///< its first block
  std::uintptr_t latch;   ///< the block from which it begins again

  /// Another loop has the same header. They are treated as nested, and the one with the lower latch as the
  /// inner one; they could also be one loop with two latches.
  bool ambiguous = false;
};

/// The loops around a place in a kernel, outermost first, and how often each has begun again. A loop appears
/// only from its second iteration on, because its first cannot be told from the code before it.
struct Position {
  static constexpr unsigned kMostDepth = 8;  ///< loops nested deeper are not told apart

  struct Level {
    Loop* loop;
    std::uint32_t count;
    std::uint64_t key;  ///< of this level and those around it
  };
  unsigned depth = 0;
  Level level[kMostDepth];

  /// Whether lanes in the same iteration may seem to be in different ones.
  bool ambiguous() const {
    return std::any_of(level, level + depth, [](const Level& l) { return l.loop->ambiguous; });
  }
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

/// How far a lane has come in its kernel.
struct LaneFlow {
  std::uintptr_t last = 0;   ///< block that it was in last
  std::uintptr_t limit = 0;  ///< end of the innermost loop: a block up to here is in it
  Position position;

  // When the lane was in which block: `time` counts the blocks it has run.
  std::uint32_t time = 0;
  std::uint32_t begun = 0;  ///< when the iteration began
  std::uint32_t begun_around[Position::kMostDepth];
  std::vector<std::uint32_t> visited;  ///< by block: the last time; blocks are 4 bytes or more apart

  std::uintptr_t skipped_to = 0;    ///< not 0 after a jump back to a block that it had not run
  std::uintptr_t skipped_from = 0;  ///< the block that jumped
  unsigned iterations = 0;          ///< begun since the lane last waited for the others
};

/// Follows lanes through one kernel.
class Iterations {
 public:
  /// The kernel's blocks are in [begin, end); code elsewhere is not followed. Prepares the lanes.
  void begin_launch(std::uintptr_t begin, std::uintptr_t end, LaneFlow (&lanes)[kWarpSize]);

  /// A lane starts the kernel.
  void start(LaneFlow& lane) const { lane.last = begin_ - 1; }
  /// A lane starts, or continues after a barrier of the whole block.
  void restart(LaneFlow& lane) const;

  /// The lane comes to `block`. Returns whether that began another iteration.
  bool visit(LaneFlow& lane, std::uintptr_t block) {
    if (block <= lane.last || block > lane.limit) return follow_jump(lane, block);
    note(lane, block);
    return false;
  }

  /// Whether there were more loops around one another than are told apart.
  bool too_deep() const { return too_deep_; }
  /// Follows the loops that `other` knows, and no more.
  void know_loops_of(const Iterations& other) { loops_ = other.loops_; }
  /// How many loops are known. They only become more.
  std::size_t loops() const { return loops_.size(); }

 private:
  std::uint32_t& visited(LaneFlow& lane, std::uintptr_t block) const {
    return lane.visited[(block - begin_) / 4];
  }
  void note(LaneFlow& lane, std::uintptr_t block) const {
    lane.last = block;
    visited(lane, block) = ++lane.time;
  }
  bool follow_jump(LaneFlow& lane, std::uintptr_t block);
  std::uintptr_t header(std::uintptr_t block, std::uintptr_t from) const;
  bool jump_back(LaneFlow& lane, std::uintptr_t block, std::uintptr_t from);
  std::uintptr_t limit(const Position& position) const {
    return position.depth ? position.level[position.depth - 1].loop->latch : end_ - 1;
  }
  void leave_innermost(LaneFlow& lane) const;
  void begin_again(LaneFlow& lane) const;
  Loop& loop(std::uintptr_t header, std::uintptr_t latch);
  void enter(LaneFlow& lane, std::uintptr_t header, std::uintptr_t latch);

  std::uintptr_t begin_ = 0, end_ = 0;
  bool too_deep_ = false;
  std::unordered_map<std::uintptr_t, Loop> loops_;  // by header and latch
};

}  // namespace cpu
