/// \file
/// Ends a launch whose kernel has made a mistake.
#pragma once

#include <cstdint>
#include <span>

#include "cpu/finding.hpp"

namespace cpu {

/// Ends the launch; `run` throws the Finding for the mistake. Called on the stack of a kernel's thread.
/// Throws nothing there: an exception could not pass the kernel's frames.
[[noreturn]] void stop_launch(const Mistake& mistake);

/// Does the same on the scheduler's own stack.
/// \throws Finding
[[noreturn]] void throw_finding(const Mistake& mistake);

/// Ends the launch like stop_launch. But where the user wants findings of that kind as notes, it records a
/// note and returns: the caller then goes on as if there had been no mistake.
void stop_or_note(const Mistake& mistake);

/// Does the same on the scheduler's own stack.
/// \throws Finding
void throw_or_note(const Mistake& mistake);

/// The Finding for a thread whose stack overflowed at `instruction`, where its stack pointer was that. Ends
/// the launch as well.
Finding stack_overflow(std::uintptr_t instruction, std::uintptr_t stack_pointer);

/// The Finding for a thread that has done nothing but compute for so many seconds, the same way.
Finding standing_still(std::uintptr_t instruction, std::uintptr_t stack_pointer, int seconds);

/// The Finding for a thread that this signal would have ended, the same way.
Finding crash(int signal, std::uintptr_t instruction, std::uintptr_t stack_pointer);

/// The Finding for host code that this signal would have ended, because of an access to `address` if it is
/// SIGSEGV. `frames` are the functions that were being called, as backtrace() gives them.
Finding host_crash(int signal, std::uintptr_t address, std::uintptr_t instruction,
                   std::uintptr_t stack_pointer, std::span<void* const> frames);

}  // namespace cpu
