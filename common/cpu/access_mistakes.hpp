/// \file
/// The findings for single memory accesses. Each stops the launch with a message about the running thread;
/// those that return do so when the user wants a note instead, and the launch goes on. They take the access
/// by value: a caller that never takes its address can keep it in registers.
#pragma once

#include <cstdint>

#include "cpu/access.hpp"
#include "cpu/async_copies.hpp"
#include "cpu/buffer.hpp"

namespace cpu {

struct ThreadAccess;

// In device memory.

/// Before or after an array, or where there is none.
[[noreturn]] void out_of_bounds(Access access);
void uninitialised_global(Access access, const Buffer& buffer);
/// `earlier` is the linear number in the grid of the thread that made the earlier access, and `earlier_site`
/// the number of its instruction.
[[noreturn]] void race_in_global(Access access, const Buffer& buffer, std::uint32_t earlier,
                                 AccessKind earlier_kind, std::uint8_t earlier_site);

// In shared memory.

/// Past the dynamic shared memory of the launch.
[[noreturn]] void outside_shared(Access access);
void uninitialised_shared(Access access);
[[noreturn]] void race_in_shared(Access access, const ThreadAccess& earlier);
/// An access to the destination of an asynchronous copy in flight.
void copy_in_flight(Access access, const AsyncCopy& copy);

// In either, or in neither.

/// `can_go_on`: the host can make the access.
void misaligned(Access access, bool can_go_on);
[[noreturn]] void not_device_memory(Access access);

}  // namespace cpu
