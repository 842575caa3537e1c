/// \file
/// Stops loops that do not end.
#pragma once

#include <cstdint>

namespace cpu {

/// The steps that the running block has taken: its accesses, barriers, warp operations and iterations. A
/// block that takes more than its budget is taken to be in a loop without end.
class Steps {
 public:
  /// The budget: a billion steps, or the number in the environment's WORKBOOK_STEPS.
  void begin_launch();
  void begin_block() {
    taken_ = 0;
    limit_ = budget_;
  }

  void count(std::uintptr_t instruction) {
    if (++taken_ > limit_) pass_limit(instruction);
  }
  /// At the running thread's next step, a store that it has just made is looked at (RaceCheck::settle_store).
  void look_at_next() { limit_ = 0; }

 private:
  void pass_limit(std::uintptr_t instruction);

  std::uint64_t taken_ = 0;
  std::uint64_t budget_ = 0;
  std::uint64_t limit_ = 0;  // the budget, or 0 for a look at the next step
};

}  // namespace cpu
