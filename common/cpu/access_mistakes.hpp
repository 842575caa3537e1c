/// \file
/// The findings for single memory accesses. Each stops the launch with a message about the running thread;
/// those that return do so when the user wants a note instead, and the launch goes on. They take the access
/// by value: a caller that never takes its address can keep it in registers.
#pragma once

#include <cstdint>

#include "cpu/access.hpp"
#include "cpu/async_copies.hpp"
#include "cpu/buffer.hpp"
#include "cpu/finding.hpp"

namespace cpu {

/// Two accesses of different threads that nothing orders: that access, and an earlier one.
struct Race {
  Access access;
  bool shared;  ///< it is to shared memory
  // Threads by their linear numbers in the grid.
  std::uint32_t thread, earlier_thread;
  std::uint8_t earlier_site;  ///< number of its instruction; 0 when unknown
};
Mistake race_between(const Race& race);
/// The same conflict, but both threads store the same value.
Mistake same_value_stored(const Race& race);
/// The same conflict, but a shuffle or vote is between the two accesses.
Mistake ordered_by_shuffle(const Race& race);

// In device memory.

/// Before or after an array, or where there is none.
[[noreturn]] void out_of_bounds(Access access);
/// In the heap, but in no part of it that is in use.
[[noreturn]] void not_on_heap(Access access, const Buffer& heap);
void uninitialised_global(Access access, const Buffer& buffer);

// In shared memory.

/// Before or after the dynamic shared memory of the launch, or the `__shared__` arrays.
[[noreturn]] void outside_shared(Access access);
void uninitialised_shared(Access access);
/// An access to the destination of an asynchronous copy in flight.
void copy_in_flight(Access access, const AsyncCopy& copy);

// In either, or in neither.

/// `can_go_on`: the host can make the access.
void misaligned(Access access, bool can_go_on);
[[noreturn]] void not_device_memory(Access access);

}  // namespace cpu
