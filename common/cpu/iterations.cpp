#include "cpu/iterations.hpp"

#include <algorithm>

namespace cpu {
namespace {

constexpr std::uint64_t kOddStep = 0x9e3779b97f4a7c15;

/// Key of a loop's first iteration: the finaliser of splitmix64 (S. Vigna, public domain), to spread the bits
/// of its numbers over a key. Each iteration adds kOddStep.
std::uint64_t key_of(std::uint64_t around, const Loop& loop) {
  std::uint64_t x = around + (loop.header ^ loop.latch << 32) * kOddStep;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

bool contains(const Loop& loop, const Loop& other) {
  if (loop.header == other.header) return other.latch < loop.latch;
  return loop.header < other.header && other.header <= loop.latch;
}

/// Outermost level at which the two differ.
unsigned first_difference(const Position& a, const Position& b) {
  unsigned i = 0;
  while (i < a.depth && i < b.depth && a.level[i].key == b.level[i].key) ++i;
  return i;
}

}  // namespace

bool before(const Position& a, const Position& b) {
  const unsigned i = first_difference(a, b);
  if (i == a.depth || i == b.depth) return a.depth < b.depth;
  const Loop &one = *a.level[i].loop, &other = *b.level[i].loop;
  if (&one == &other) return a.level[i].count < b.level[i].count;
  // A loop that does not appear is in its first iteration.
  if (contains(one, other)) return false;
  if (contains(other, one)) return true;
  return one.header < other.header;
}

bool passed(const Position& then, const Position& now) {
  return first_difference(then, now) < then.depth && before(then, now);
}

void Iterations::begin_launch(std::uintptr_t begin, std::uintptr_t end, LaneFlow (&lanes)[kWarpSize]) {
  begin_ = begin;
  end_ = end;
  too_deep_ = false;
  prepare(lanes);
}

void Iterations::prepare(LaneFlow (&lanes)[kWarpSize]) const {
  for (LaneFlow& lane : lanes) {
    lane.time = 0;
    lane.visited.assign((end_ - begin_) / 4 + 1, 0);
    restart(lane);
  }
}

void Iterations::restart(LaneFlow& lane) const {
  if (lane.time > UINT32_MAX / 2) {
    std::fill(lane.visited.begin(), lane.visited.end(), 0);
    lane.time = 0;
  }
  lane.begun = lane.time + 1;
  lane.position.depth = 0;
  lane.limit = limit(lane.position);
  lane.skipped_to = 0;
  lane.iterations = 0;
}

void Iterations::leave_innermost(LaneFlow& lane) const {
  lane.begun = lane.begun_around[--lane.position.depth];
  lane.limit = limit(lane.position);
}

/// Another iteration of the innermost loop.
void Iterations::begin_again(LaneFlow& lane) const {
  Position::Level& level = lane.position.level[lane.position.depth - 1];
  ++level.count;
  level.key += kOddStep;
  lane.begun = lane.time + 1;
  ++lane.iterations;
}

/// The loop that begins again at `header` after `latch`.
Loop& Iterations::loop(std::uintptr_t header, std::uintptr_t latch) {
  const auto [found, is_new] =
      loops_.try_emplace(header << 32 ^ latch, Loop{header, latch});  // a program has less than 2^32 bytes
  if (is_new)
    for (auto& [key, other] : loops_)
      if (other.header == header && other.latch != latch) other.ambiguous = found->second.ambiguous = true;
  return found->second;
}

/// The second iteration of a loop in the innermost loop.
void Iterations::enter(LaneFlow& lane, std::uintptr_t header, std::uintptr_t latch) {
  Position& position = lane.position;
  if (position.depth == Position::kMostDepth) {
    too_deep_ = true;
    return;
  }
  lane.begun_around[position.depth] = lane.begun;
  Loop& entered = loop(header, latch);
  const std::uint64_t key = key_of(position.key(), entered);
  position.level[position.depth++] = {&entered, 0, key};
  lane.limit = latch;
  begin_again(lane);
}

/// Where the loop begins that a jump from `from` back to `block` leads into: usually at the block. If the
/// block is in the middle of a loop that the lane has left, that loop is the inner one of two, and begins
/// first.
std::uintptr_t Iterations::header(std::uintptr_t block, std::uintptr_t from) const {
  std::uintptr_t first = block;
  for (const auto& [key, loop] : loops_)
    if (loop.header < block && block <= loop.latch && loop.latch < from) first = std::min(first, loop.header);
  return first;
}

/// A jump to a lower address. Returns whether it began another iteration.
bool Iterations::jump_back(LaneFlow& lane, std::uintptr_t block, std::uintptr_t from) {
  Position& position = lane.position;
  const auto innermost = [&] { return position.level[position.depth - 1].loop; };
  const auto begins_again = [&](std::uintptr_t header) {
    while (position.depth && header < innermost()->header) leave_innermost(lane);
    return position.depth && header == innermost()->header && from == innermost()->latch;
  };
  std::uintptr_t first = block;
  if (begins_again(first) || begins_again(first = header(block, from))) {
    begin_again(lane);
    return true;
  }
  if (visited(lane, block) >= lane.begun) {
    enter(lane, first, from);
    return true;
  }
  lane.skipped_to = block;
  lane.skipped_from = from;
  lane.limit = 0;  // so that the next block comes to `follow_jump`
  return false;
}

bool Iterations::follow_jump(LaneFlow& lane, std::uintptr_t block) {
  if (block - begin_ >= end_ - begin_) return true;  // another function's
  const std::uintptr_t from = lane.last;
  bool begins = false;
  if (lane.skipped_to) {
    lane.limit = limit(lane.position);
    if (block > from && visited(lane, block) >= lane.begun) {
      enter(lane, lane.skipped_to, lane.skipped_from);
      begins = true;
    }
    lane.skipped_to = 0;
  }
  while (block > lane.limit) leave_innermost(lane);
  if (block <= from) begins |= jump_back(lane, block, from);
  note(lane, block);
  return begins;
}

}  // namespace cpu
