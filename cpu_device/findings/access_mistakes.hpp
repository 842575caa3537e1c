/// \file
/// The findings for single memory accesses. Each stops the launch with a message about the running thread;
/// those that return do so when the user wants a note instead, and the launch goes on. They take the access
/// by value: a caller that never takes its address can keep it in registers.
#pragma once

#include <cstdint>

#include "cpu_device/access.hpp"
#include "cpu_device/findings/finding.hpp"
#include "cpu_device/memory/async_copies.hpp"
#include "cpu_device/memory/buffer.hpp"

namespace cpu {

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
