/// \file
/// Accesses that raise a fault: by host code to device memory, and past the end of a thread's stack.
#pragma once

#include <functional>

namespace cpu {

/// Runs host code, which may launch kernels, with device memory closed to it.
/// \throws cpu::Finding when it accesses an array on the device, or when a thread of a kernel needs more
/// stack than it has.
void run_host_code(const std::function<void()>& code);

}  // namespace cpu
