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
  void begin_block() { taken_ = 0; }

  void count(std::uintptr_t instruction) {
    if (++taken_ > budget_) stop(instruction);
  }

 private:
  void stop(std::uintptr_t instruction) const;

  std::uint64_t taken_ = 0;
  std::uint64_t budget_ = 0;
};

}  // namespace cpu
