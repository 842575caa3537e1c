#include "cpu_device/running/spin_probe.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>
#include <utility>

#include "cpu_device/memory/memory.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/scheduler.hpp"

namespace cpu {
namespace {

constexpr unsigned kMostSteps = 256;  ///< of one probe: finds loops of up to about 40 steps
constexpr unsigned kMostImages = 12;  ///< of one probe: each costs a few microseconds
constexpr std::size_t kMostWrites = 16;

bool same_step(const Access& a, const Access& b) {
  return a.instruction == b.instruction && a.address == b.address && a.size == b.size && a.kind == b.kind;
}

/// Whether those bytes are an array's or shared memory's: the access has not been checked yet.
bool is_memory(std::uintptr_t address, unsigned size) {
  if (device().shared_memory.offset(address))
    return device().shared_memory.offset(address + size - 1).has_value();
  const Buffer* buffer = device().launch.is_global(address) ? memory().owner(address) : nullptr;
  return buffer && buffer->data.contains(address) && buffer->data.contains(address + size - 1);
}

}  // namespace

void SpinProbe::start(unsigned thread) {
  on_ = true;
  thread_ = thread;
  steps_ = images_ = periods_ = 0;
  has_access_ = wants_anchor_ = false;
}

void SpinProbe::begin(unsigned thread) {
  start(thread);
  resumed_ = has_anchor_ = false;
}

void SpinProbe::resume(unsigned thread, Spin&& spin) {
  start(thread);
  resumed_ = has_anchor_ = has_image_ = true;
  spin_ = std::move(spin);
  writes_.clear();
  too_many_writes_ = false;
  note(spin_.at);
}

SpinProbe::Verdict SpinProbe::look(const Access& step) {
  if (++steps_ > kMostSteps) return Verdict::kGivesUp;
  has_access_ |= step.size != 0;
  if (has_anchor_ && same_step(step, spin_.at)) {
    const Verdict verdict = come_back(step);
    if (verdict != Verdict::kUnknown) return verdict;
  } else if (!resumed_ && periods_ == 0) {
    // The anchor may be outside the loop, or the loop may be longer than the steps so far: so another one is
    // chosen after 2, 4, 8 ... steps, as R. P. Brent's algorithm for cycles does.
    wants_anchor_ |= std::has_single_bit(steps_);
    if (wants_anchor_ && (step.size != 0 || !has_access_)) set_anchor(step);
  }
  note(step);
  return Verdict::kUnknown;
}

void SpinProbe::set_anchor(const Access& step) {
  has_anchor_ = true;
  wants_anchor_ = has_image_ = false;
  periods_ = 0;
  spin_.at = step;
  begin_period();
}

/// The thread is at the anchor again.
SpinProbe::Verdict SpinProbe::come_back(const Access& step) {
  if (++images_ > kMostImages || !take_image(now_, step.instruction, scheduler().stack_top()))
    return Verdict::kGivesUp;
  if (has_image_ && now_ == spin_.image && memory_is_as_before()) {
    // Twice: what an atomic writes is not part of the image, but follows from the image one period earlier.
    if (++periods_ == 2) return Verdict::kSpins;
  } else {
    if (resumed_) return Verdict::kGivesUp;
    std::swap(spin_.image, now_);
    has_image_ = true;
    periods_ = 0;
  }
  begin_period();
  return Verdict::kUnknown;
}

void SpinProbe::begin_period() {
  writes_.clear();
  too_many_writes_ = false;
  spin_.polled = {};
  spin_.stores = false;
}

void SpinProbe::note(const Access& step) {
  if (step.size == 0) return;
  // Of several loads the last in the code: those before it often only compute its address.
  const auto rank = [](const Access& a) {
    return std::tuple(a.size != 0, a.kind == AccessKind::kAtomic, a.instruction);
  };
  if (step.kind != AccessKind::kStore && rank(spin_.polled) < rank(step)) spin_.polled = step;
  if (step.kind == AccessKind::kLoad) return;
  spin_.stores |= step.kind == AccessKind::kStore;
  const auto same = [&](const Write& w) { return w.address == step.address && w.size == step.size; };
  if (std::any_of(writes_.begin(), writes_.end(), same)) return;
  if (writes_.size() == kMostWrites || step.size > 16 || !is_memory(step.address, step.size)) {
    too_many_writes_ = true;
    return;
  }
  Write write = {step.address, step.size, {}};
  std::memcpy(write.before.data(), reinterpret_cast<const void*>(step.address), step.size);
  writes_.push_back(write);
}

bool SpinProbe::memory_is_as_before() const {
  const auto as_before = [](const Write& w) {
    return std::memcmp(w.before.data(), reinterpret_cast<const void*>(w.address), w.size) == 0;
  };
  return !too_many_writes_ && std::all_of(writes_.begin(), writes_.end(), as_before);
}

}  // namespace cpu
