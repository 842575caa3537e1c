/// \file
/// The findings for kernels and host code that a fault would have ended (faults.cpp).
#pragma once

#include <cstdint>
#include <span>

#include "cpu_device/findings/finding.hpp"

namespace cpu {

/// The Finding for a thread whose stack overflowed at `instruction`, where its stack pointer was that.
Finding stack_overflow(std::uintptr_t instruction, std::uintptr_t stack_pointer);

/// The Finding for a thread that has done nothing but compute for so many seconds.
Finding standing_still(std::uintptr_t instruction, std::uintptr_t stack_pointer, int seconds);

/// The Finding for a thread that this signal would have ended.
Finding crash(int signal, std::uintptr_t instruction, std::uintptr_t stack_pointer);

/// The Finding for host code that this signal would have ended, because of an access to `address` if it is
/// SIGSEGV. `frames` are the functions that were being called, as backtrace() gives them.
Finding host_crash(int signal, std::uintptr_t address, std::uintptr_t instruction,
                   std::uintptr_t stack_pointer, std::span<void* const> frames);

}  // namespace cpu
