/// \file
/// Counts the steps of a block. Every so many steps it looks whether the running thread spins, and whether
/// other threads should have their turn; and it stops loops that do not end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "cpu_device/access.hpp"
#include "cpu_device/running/spin_probe.hpp"

namespace cpu {

/// How many steps a block may take: a billion, or the number in the environment's WORKBOOK_STEPS, "500000" or
/// "5e5". Nothing when that is no whole number from 1 to 10^18.
std::optional<std::uint64_t> step_budget();

/// The steps that the running block has taken: its accesses, barriers, warp operations and iterations. A
/// block that takes more than its budget is taken to be in a loop without end.
class StepBudget {
 public:
  /// Reads the budget.
  void begin_launch();
  /// `taken`: what the block has taken before it waited for others.
  void begin_block(std::uint64_t taken = 0) {
    taken_ = taken;
    interrupt();
    begin_slice();
  }

  /// Steps of the block so far.
  std::uint64_t taken() const { return taken_; }

  /// Whether the next step is one at which there is nothing to do but to count it, as `count_quiet` does.
  bool next_is_quiet() const { return taken_ + 1 < next_; }
  void count_quiet() { ++taken_; }

  // Each is one step of the running thread, and may suspend it.

  /// The thread is about to access memory. Not an Access, so that the caller can keep it in registers.
  void count(std::uintptr_t instruction, std::uintptr_t address, unsigned size, AccessKind kind) {
    if (++taken_ >= next_) [[unlikely]]
      look(instruction, address, size, kind);
  }
  /// It begins another iteration of a loop, at that block.
  void count_iteration(std::uintptr_t block) { count(block, 0, 0, AccessKind::kLoad); }
  /// It is at another instruction that calls the device.
  void count_call(std::uintptr_t instruction) {
    if (++taken_ >= next_) [[unlikely]]
      look_at_call(instruction);
  }

  /// The running thread is about to do what it did last: it is watched from here on.
  void suspect() {
    if (!probe_.on()) next_ = taken_ + 1;
  }

  /// Whether the running thread is being watched. It should then not wait for others without need.
  bool probing() const { return probe_.on(); }
  /// The running thread waits: other threads run next.
  void interrupt() {
    if (probe_.on()) give_up();
  }

  /// At the running thread's next step, the store that it makes now is settled (RaceCheck::settle_store).
  void settle_next_store();

  /// A warp begins to run.
  void begin_slice();
  /// Whether a warp that runs since `begin_slice` has had its turn.
  bool slice_over() const { return slice_over_; }

 private:
  void look(std::uintptr_t instruction, std::uintptr_t address, unsigned size, AccessKind kind);
  void look_at_call(std::uintptr_t instruction);
  bool was_for_store();
  void check_budget(std::uintptr_t instruction) const;
  void give_up();
  void plan();

  std::uint64_t taken_ = 0;
  std::uint64_t next_ = 0;     // step at which to look
  std::uint64_t planned_ = 0;  // the same, but for a store to settle
  std::uint64_t budget_ = 0;
  std::uint64_t interval_ = 0;  // steps to the next probe
  std::uint64_t slice_end_ = 0;
  bool slice_over_ = false;
  SpinProbe probe_;
};

}  // namespace cpu
