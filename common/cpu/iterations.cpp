#include "cpu/iterations.hpp"

#include <algorithm>
#include <utility>

#include "cpu/cores.hpp"
#include "cpu/symbols.hpp"

namespace cpu {
namespace {

using Change = Step::Change;

/// Outermost level at which the two differ.
unsigned first_difference(const Position& a, const Position& b) {
  unsigned i = 0;
  while (i < a.depth && i < b.depth && a.level[i].key == b.level[i].key) ++i;
  return i;
}

void begin_again(Position::Level& level) {
  ++level.count;
  level.key += kOddStep;
}

}  // namespace

bool before(const Position& a, const Position& b) {
  const unsigned i = first_difference(a, b);
  if (i == a.depth || i == b.depth) return a.depth < b.depth;
  if (a.level[i].loop == b.level[i].loop) return a.level[i].count < b.level[i].count;
  return a.level[i].loop->order < b.level[i].loop->order;
}

bool passed(const Position& then, const Position& now) {
  return first_difference(then, now) < then.depth && before(then, now);
}

/// The function that contains the address; null where its code is not known.
const ControlFlow* Iterations::function_at(std::uintptr_t address) {
  if (const auto found = function_of_.find(address); found != function_of_.end()) return found->second;
  constexpr std::size_t kMostBytes = 1u << 24;
  const Region code = function_region(address);
  if (code.size > kMostBytes) return function_of_[address] = nullptr;
  auto& function = functions_[code.begin];
  if (!function) function = std::make_unique<ControlFlow>(code, marker_);
  return function_of_[address] = function.get();
}

void Iterations::begin_launch(std::uintptr_t kernel) {
  kernel_ = function_at(kernel);
  is_lost_ = !kernel_;
  kernel_entry_ = kernel_ ? kernel_->entry() : 0;
  diverged_.clear();
}

void Iterations::go_to(LaneFlow& lane, const ControlFlow& function) const {
  lane.place.function = &function;
  lane.begin = function.code().begin;
  lane.size = function.code().size;
  lane.slots = function.slots();
}

void Iterations::start(LaneFlow& lane) const {
  lane.place.callers.clear();
  lane.place.last = 0;
  lane.place.base = 0;
  lane.place.loop = ControlFlow::kNever - 1;  // so that the first place comes to `follow`
  lane.position.depth = 0;
  lane.called_from = 0;
  if (kernel_) {
    go_to(lane, *kernel_);
  } else {
    lane.size = 0;
  }
}

void Iterations::enter(Position& position, const Loop& loop) const {
  if (position.depth == Position::kMostDepth) return;
  const std::uint64_t key = loop_key(position.key(), loop);
  position.level[position.depth++] = {&loop, 0, key};
}

void Iterations::enter_loops(LaneFlow& lane, const Place& place, std::size_t first) const {
  for (std::size_t i = first; i < place.loops.size(); ++i) enter(lane.position, *place.loops[i]);
}

void Iterations::resume(LaneFlow& lane, LanePlace&& saved) const {
  lane.place = std::move(saved);
  const LanePlace& place = lane.place;
  if (place.callers.empty() && place.function) {
    go_to(lane, *place.function);
    const Place* last = place.function->place(place.last);
    const std::size_t loops = last ? std::min<std::size_t>(last->loops.size(), Position::kMostDepth) : 0;
    for (std::size_t i = 0; i < loops; ++i) lane.position.level[i] = {last->loops[i], 0, last->keys[i]};
    lane.position.depth = static_cast<unsigned>(loops);
    lane.called_from = 0;
    return;
  }
  lane.position.depth = 0;
  lane.called_from = 0;
  for (const LanePlace::Caller& caller : place.callers) {
    const Place* from = caller.function->place(caller.last);
    if (!from) continue;
    enter_loops(lane, *from, 0);
    enter(lane.position, from->call);
  }
  if (!place.function) return;
  go_to(lane, *place.function);
  if (const Place* last = place.function->place(place.last)) enter_loops(lane, *last, 0);
}

void Iterations::end_segment(LaneFlow* lanes, unsigned count) {
  for (unsigned lane = 0; lane < count; ++lane) lanes[lane].iterations = 0;
}

/// An iteration of an ambiguous loop ends: have other lanes ended it elsewhere?
void Iterations::note_latch(const Position::Level& level, std::uintptr_t from) {
  need_block_order();  // lanes of other blocks are among them
  Latch& latch = latches_[level.key >> (64 - kLatchBits)];
  if (latch.key == level.key && latch.from != from) diverged_.insert(level.loop);
  latch = {level.key, from};
}

bool Iterations::ambiguous(const Position& position) const {
  if (diverged_.empty()) return false;
  return std::any_of(position.level, position.level + position.depth,
                     [&](const Position::Level& l) { return diverged_.contains(l.loop); });
}

/// Takes a lane to a place of its function. Returns whether that began another iteration.
bool Iterations::take(LaneFlow& lane, const Place& place, const Step& step) {
  Position& position = lane.position;
  const std::size_t around = step.change == Change::kNone ? place.loops.size() : step.level;
  const unsigned depth = lane.place.base + static_cast<unsigned>(around);
  bool begins = false;
  if (step.change == Change::kBeginsAgain) {
    if (depth < position.depth) {
      Position::Level& level = position.level[depth];
      if (level.loop->ambiguous) note_latch(level, step.from);
      begin_again(level);
      position.depth = depth + 1;
      enter_loops(lane, place, around + 1);
    } else {
      is_lost_ = true;  // nested too deep
    }
    begins = true;
    ++lane.iterations;
  } else {
    is_lost_ |= step.change == Change::kNotFollowed;
    position.depth = std::min(position.depth, depth);
    enter_loops(lane, place, around);
  }
  lane.called_from = 0;
  return begins;
}

/// Back to the function that has called the lane's.
void Iterations::leave_call(LaneFlow& lane) const {
  LanePlace& now = lane.place;
  const LanePlace::Caller caller = now.callers.back();
  now.callers.pop_back();
  now.base = caller.base;
  now.last = caller.last;
  go_to(lane, *caller.function);
  const auto depth = static_cast<unsigned>(now.function->place(now.last)->loops.size());
  lane.position.depth = std::min(lane.position.depth, now.base + depth);
  lane.called_from = now.last;
  lane.calls = caller.calls;
}

void Iterations::enter_call(LaneFlow& lane, const Place& from, const ControlFlow& function) const {
  LanePlace& now = lane.place;
  lane.calls = lane.called_from == now.last ? lane.calls + 1 : 0;
  now.callers.push_back({now.function, now.last, now.base, lane.calls});
  enter(lane.position, from.call);
  for (unsigned i = 0; i < lane.calls; ++i) begin_again(lane.position.level[lane.position.depth - 1]);
  now.base = lane.position.depth;
  now.last = 0;
  go_to(lane, function);
}

bool Iterations::follow(LaneFlow& lane, std::uintptr_t block) {
  LanePlace& now = lane.place;
  if (block == kernel_entry_ && now.last == 0) {
    now.last = block;
    now.loop = 0;
    return false;
  }
  if (const std::uintptr_t offset = block - lane.begin; offset < lane.size) {  // the most frequent case
    const ControlFlow::Slot& slot = lane.slots[offset / 4];
    if (slot.latch && slot.latch == now.last - lane.begin && lane.position.depth == now.base + slot.depth) {
      begin_again(lane.position.level[lane.position.depth - 1]);
      ++lane.iterations;
      lane.called_from = 0;
      now.last = block;
      now.loop = slot.place->loop;
      return true;
    }
  }
  if (!now.function) return true;
  if (now.last == 0 && !now.function->code().contains(block)) return false;  // what calls the kernel
  const ControlFlow* function = now.function->code().contains(block) ? now.function : function_at(block);
  const Place* place = function ? function->place(block) : nullptr;
  if (!place) return true;
  for (;;) {
    const Step* step = function == now.function ? place->step(now.last) : nullptr;
    const Place* last = step ? nullptr : now.function->place(now.last);
    if (!step && last && place->step(0) && last->may_call(function->code().begin)) {
      enter_call(lane, *last, *function);
      step = place->step(0);
    }
    if (step) {
      const bool begins = take(lane, *place, *step);
      now.last = block;
      now.loop = place->loop;
      return begins;
    }
    if (now.callers.empty()) {
      // The function that has called the kernel is not followed.
      is_lost_ |= last && !last->returns;
      return true;
    }
    leave_call(lane);
  }
}

}  // namespace cpu
