/// \file
/// The findings for races, and what to check after one: where the barrier may be missing.
#pragma once

#include <cstdint>

#include "cpu_device/access.hpp"
#include "cpu_device/findings/finding.hpp"
#include "cpu_device/memory/access_sites.hpp"

namespace cpu {

/// Two accesses of different threads that nothing orders: that access, and an earlier one.
struct Race {
  Access access;
  bool shared;  ///< it is to shared memory
  // Threads by their linear numbers in the grid.
  std::uint32_t thread, earlier_thread;
  const Site* earlier;  ///< the instruction of the earlier access; null when that is not known any more
};
Mistake race_between(const Race& race);
/// The same conflict, but both threads store the same value.
Mistake same_value_stored(const Race& race);
/// The same conflict, but a shuffle or vote is between the two accesses.
Mistake ordered_by_shuffle(const Race& race);

}  // namespace cpu
