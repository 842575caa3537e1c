/// \file
/// Ends a launch whose kernel has made a mistake.
#pragma once

#include "cpu_device/findings/finding.hpp"

namespace cpu {

/// Ends the launch; `run` throws the Finding for the mistake. Called on the stack of a kernel's thread.
/// Throws nothing there: an exception could not pass the kernel's frames (scheduler.cpp).
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

}  // namespace cpu
