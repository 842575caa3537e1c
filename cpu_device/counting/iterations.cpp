#include "cpu_device/counting/iterations.hpp"

#include <algorithm>
#include <utility>

#include "cpu_device/program_image/symbols.hpp"
#include "cpu_device/running_thread.hpp"

/// The compiler calls it at each place (trace.cpp).
extern "C" void __sanitizer_cov_trace_pc();

namespace cpu {
namespace {

using Change = Step::Change;

/// Outermost level at which the two differ.
unsigned first_difference(const Position& a, const Position& b) {
  unsigned i = 0;
  while (i < a.depth && i < b.depth && a.level[i].key == b.level[i].key) ++i;
  return i;
}

/// Lets the stack overflow here when little is left of it: a recursion would soon overflow it in a function
/// of the device, perhaps within malloc, whose lock would then stay closed.
void overflow_if_full(const Region& stack) {
  constexpr std::size_t kLeast = 8 * 1024;
  if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - stack.begin >= kLeast) return;
  *reinterpret_cast<volatile char*>(stack.begin - 1) = 0;  // the guard page: faults.cpp goes on
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
  if (!function)
    function =
        std::make_unique<ControlFlow>(code, reinterpret_cast<std::uintptr_t>(&__sanitizer_cov_trace_pc));
  return function_of_[address] = function.get();
}

void Iterations::begin_launch(std::uintptr_t kernel) {
  kernel_ = function_at(kernel);
  is_lost_ = !kernel_;
  kernel_entry_ = kernel_ ? kernel_->entry() : 0;
  diverged_.clear();
}

void Iterations::go_to(LaneFlow& lane, const ControlFlow& function) const {
  lane.function = &function;
  lane.begin = function.code().begin;
  lane.size = static_cast<std::uint32_t>(function.code().size);
  lane.slots = function.slots();
}

void Iterations::start(LaneFlow& lane) const {
  lane.polled_by = lane.polled = 0;
  lane.callers.clear();
  lane.last = 0;
  lane.base = 0;
  lane.loop = ControlFlow::kNever - 1;  // so that the first place comes to `follow`
  lane.position.depth = 0;
  lane.key = 0;
  lane.called_from = 0;
  lane.iterations = 0;
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

void Iterations::resume(LaneFlow& lane) {
  Position& position = lane.position;
  lane.called_from = 0;
  lane.iterations = 0;
  unsigned i = 0;
  while (i < position.depth && position.level[i].count == 0) ++i;
  if (i == position.depth) return;
  position.level[i].key -= position.level[i].count * kOddStep;
  position.level[i].count = 0;
  while (++i < position.depth)
    position.level[i] = {position.level[i].loop, 0,
                         loop_key(position.level[i - 1].key, *position.level[i].loop)};
  lane.key = position.key();
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
  const unsigned depth = lane.base + static_cast<unsigned>(around);
  bool begins = false;
  if (step.change == Change::kBeginsAgain) {
    if (depth < position.depth) {
      Position::Level& level = position.level[depth];
      if (level.loop->ambiguous) note_latch(level, step.from);
      level.begin_again();
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
  const LaneFlow::Caller caller = lane.callers.back();
  lane.callers.pop_back();
  lane.base = caller.base;
  lane.last = caller.last;
  go_to(lane, *caller.function);
  const auto depth = static_cast<unsigned>(lane.function->place(lane.last)->loops.size());
  lane.position.depth = std::min(lane.position.depth, lane.base + depth);
  lane.called_from = lane.last;
  lane.calls = caller.calls;
}

void Iterations::enter_call(LaneFlow& lane, const Place& from, const ControlFlow& function) const {
  overflow_if_full(running().stack);
  lane.calls = lane.called_from == lane.last ? lane.calls + 1 : 0;
  lane.callers.push_back({lane.function, lane.last, lane.base, lane.calls});
  enter(lane.position, from.call);
  for (unsigned i = 0; i < lane.calls; ++i) lane.position.level[lane.position.depth - 1].begin_again();
  lane.base = static_cast<std::uint16_t>(lane.position.depth);
  lane.last = 0;
  go_to(lane, function);
}

bool Iterations::follow(LaneFlow& lane, std::uintptr_t block) {
  if (block == kernel_entry_ && lane.last == 0) {
    lane.last = block;
    lane.loop = 0;
    return false;
  }
  if (repeat(lane, block)) return true;
  const bool begins = go_to_place(lane, block);
  lane.key = lane.position.key();
  return begins;
}

bool Iterations::go_to_place(LaneFlow& lane, std::uintptr_t block) {
  if (!lane.function) return true;
  if (lane.last == 0 && !lane.function->code().contains(block)) return false;  // what calls the kernel
  const ControlFlow* function = lane.function->code().contains(block) ? lane.function : function_at(block);
  const Place* place = function ? function->place(block) : nullptr;
  if (!place) return true;
  for (;;) {
    const Step* step = function == lane.function ? place->step(lane.last) : nullptr;
    const Place* last = step ? nullptr : lane.function->place(lane.last);
    if (!step && last && place->step(0) && last->may_call(function->code().begin)) {
      enter_call(lane, *last, *function);
      step = place->step(0);
    }
    if (step) {
      const bool begins = take(lane, *place, *step);
      lane.last = block;
      lane.loop = place->loop;
      return begins;
    }
    if (lane.callers.empty()) {
      // The function that has called the kernel is not followed.
      is_lost_ |= last && !last->returns;
      return true;
    }
    leave_call(lane);
  }
}

}  // namespace cpu
