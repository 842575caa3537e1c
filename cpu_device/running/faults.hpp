/// \file
/// Faults, which the processor raises: accesses by host code to device memory, accesses past the end of a
/// thread's stack, and whatever else would end the program in the middle of a kernel.
#pragma once

#include <functional>

namespace cpu {

/// Runs host code, which may launch kernels, with device memory closed to it.
/// \throws cpu::Finding when it accesses an array on the device, when a thread of a kernel needs more stack
/// than it has, or when a signal such as SIGFPE would end a kernel or the host code.
void run_host_code(const std::function<void()>& code);

/// The same in another thread, while the caller of run_host_code() waits for it.
void run_watched(const std::function<void()>& code);

/// Runs code of the calling thread, with the faults handled that `run_host_code` handles. Returns false if
/// there was one; then the code has been left where it was.
bool ends_without_fault(const std::function<void()>& code);

}  // namespace cpu
