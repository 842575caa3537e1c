/// \file
/// Accesses that the processor refuses: of host code to device memory, and past the end of a thread's stack.
#pragma once

#include <functional>

namespace cpu {

/// Runs host code, which launches kernels, and closes device memory to it.
/// \throws cpu::Finding when it touches an array on the device, or when a thread of a kernel needs more stack
/// than it has.
void run_host_code(const std::function<void()>& code);

}  // namespace cpu
