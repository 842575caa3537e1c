/// \file
/// Launches of a published program that need not run again, such as those of a benchmark's loop.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "published/runtime.hpp"

namespace workbook {

/// Knows which launches change nothing. Kernels have no state but the device's memory. So a launch that found
/// the memory in some state and left it in the same state will do that again, whenever the same kernel is
/// launched with the same arguments in that state. States are told apart by a hash of 64 bits.
class Repeats {
 public:
  /// Calls `run` for a launch, unless that is known to change nothing, and returns whether it has. `run`
  /// returns whether it did something besides changing memory. `memory` is the state of the memory at
  /// present. Without the bytes of its arguments, each launch runs.
  bool run(const cpu::Launch& launch, const published::Arguments& arguments,
           const std::function<std::size_t()>& memory, const std::function<bool()>& run);

  /// The number that the last launch has: launches of a kernel with the same arguments have the same one.
  std::size_t number() const { return last_->number; }

 private:
  struct Known {
    std::size_t number;
    bool has_run = false, changes_nothing = false;
    std::size_t memory = 0;  ///< its state, in which the launch changes nothing
  };
  std::map<std::string, Known> known_;
  Known* last_ = nullptr;
};

}  // namespace workbook
