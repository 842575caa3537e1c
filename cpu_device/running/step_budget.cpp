#include "cpu_device/running/step_budget.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <utility>

#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/notes.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/scheduler.hpp"
#include "system/plural.hpp"

namespace cpu {
namespace {

// StepBudget between two probes. They are doubled as long as nothing spins, so that a kernel in which no
// thread does hardly pays for them.
constexpr std::uint64_t kFirstInterval = 1024, kLeastInterval = 32, kMostInterval = 1 << 18;

/// StepBudget after which a warp lets others run, for loops that wait and count: SpinProbe cannot tell those
/// from loops that compute. A turn takes about 20 ms.
constexpr std::uint64_t kSlice = 1 << 20;

/// Where several GPUs run, a thread that waits most probably waits for another one: both come sooner.
constexpr std::uint64_t kMostIntervalOfGpus = 1 << 12, kSliceOfGpus = 1 << 15;

}  // namespace

std::optional<std::uint64_t> step_budget() {
  constexpr std::uint64_t kUsual = 1'000'000'000;
  const char* text = std::getenv("WORKBOOK_STEPS");
  if (!text) return kUsual;
  char* end = nullptr;
  const double wanted = std::strtod(text, &end);
  const bool whole = wanted >= 1 && wanted <= 1e18 && wanted == std::floor(wanted);
  if (*end || !whole) return std::nullopt;
  return static_cast<std::uint64_t>(wanted);
}

void StepBudget::begin_launch() {
  budget_ = step_budget().value_or(1);  // the backend has refused what is no number
  interval_ = kFirstInterval;
}

void StepBudget::begin_slice() {
  slice_end_ = taken_ + (device().gpus ? kSliceOfGpus : kSlice);
  slice_over_ = false;
  plan();
}

void StepBudget::plan() {
  next_ = std::min({budget_ + 1, slice_end_, taken_ + (probe_.on() ? 1 : interval_)});
}

void StepBudget::give_up() {
  probe_.end();
  interval_ = std::min(2 * interval_, device().gpus ? kMostIntervalOfGpus : kMostInterval);
  plan();
}

void StepBudget::look(std::uintptr_t instruction, std::uintptr_t address, unsigned size, AccessKind kind) {
  if (was_for_store()) return;
  check_budget(instruction);
  const unsigned thread = device().thread.number;
  if (taken_ >= slice_end_) {
    probe_.end();
    begin_slice();
    slice_over_ = true;
    return scheduler().wait_for_warp();
  }
  if (probe_.on() && probe_.thread() != thread) return give_up();
  if (!probe_.on()) probe_.begin(thread);
  switch (probe_.look({instruction, address, size, kind})) {
    case SpinProbe::Verdict::kUnknown:
      return plan();
    case SpinProbe::Verdict::kGivesUp:
      return give_up();
    case SpinProbe::Verdict::kSpins:
      break;
  }
  probe_.end();
  interval_ = kLeastInterval;
  Spin spin = probe_.take();
  const bool counted = spin.polled.kind == AccessKind::kAtomic ||
                       device().thread.flow->polled != spin.polled.address;  // else see trace.cpp
  if (counted) {
    // How often a thread polls depends on when the others run.
    device().traffic.set_approximate();
    device().site_log.set_approximate(instruction);
  }
  scheduler().spin(std::move(spin), probe_.again());
  probe_.resume(thread, scheduler().take_spin());
  plan();
}

void StepBudget::look_at_call(std::uintptr_t instruction) {
  if (was_for_store()) return;
  check_budget(instruction);
  probe_.on() ? give_up() : plan();
}

void StepBudget::settle_next_store() {
  if (next_ > 0) planned_ = std::exchange(next_, 0);
}

/// Settles the store that `settle_next_store` was called for. Returns whether nothing else is to be done yet.
bool StepBudget::was_for_store() {
  if (!device().races.has_open_store()) return false;
  next_ = planned_;
  device().races.settle_store();
  return taken_ < next_;
}

void StepBudget::check_budget(std::uintptr_t instruction) const {
  if (taken_ <= budget_) return;
  std::string look_at;
  if (notes().has("same value stored by several threads")) {
    look_at =
        "threads store what others have stored, so the loop may only be long: does its index grow by "
        "enough in each iteration? Or is it meant to wait for another thread?";
  } else {
    look_at =
        "does what the loop waits for ever change? If the kernel needs more steps, set WORKBOOK_STEPS to "
        "their number";
    if (device().launch.blocks() > 1)
      look_at += ". Does it wait for a later block? Blocks run one after another on the CPU device";
  }
  stop_launch({"infinite loop",
               fmt::format("  {} is at {}\n  Still running after {}: an infinite loop?",
                           running_thread_name(), place_text(instruction), workbook::plural(budget_, "step")),
               look_at});
}

}  // namespace cpu
