/// \file
/// Accesses that raise a fault: by host code to device memory, and past the end of a thread's stack.
#pragma once

#include <functional>

namespace cpu {

/// Runs host code, which may launch kernels, with device memory closed to it.
/// \throws cpu::Finding when it accesses an array on the device, or when a thread of a kernel needs more
/// stack than it has.
void run_host_code(const std::function<void()>& code);

/// Runs code of the calling thread, with the faults handled that `run_host_code` handles. Returns false if
/// there was one; then the code has been left where it was.
bool ends_without_fault(const std::function<void()>& code);

}  // namespace cpu
