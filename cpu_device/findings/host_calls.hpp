/// \file
/// What belongs to the other side: host code that calls a function of kernels, and a kernel that calls one of
/// the host's.
#pragma once

#include "cpu_device/running_thread.hpp"

namespace cpu {

/// Ends the launch with a finding if a kernel is what has called the device from `return_address`; for host
/// code it returns. `does` says what the kernel's thread does ("launches a kernel"), `look_at` what to check
/// then.
void refuse_in_kernel(const char* does, const void* return_address, const char* look_at);

/// Ends the launch with a finding if a kernel is what has called `function`, which ends a program.
void refuse_end_in_kernel(const char* function, const void* return_address);

/// The finding that host code has called `what`, which only kernels may call. \throws Finding
[[noreturn]] void throw_called_by_host(const char* what, const void* return_address);

/// The first call in each function of the device that only kernels may call; `what` names that function.
/// \throws Finding when host code has called it
inline void refuse_on_host(const char* what, const void* return_address) {
  if (!grid_runs) throw_called_by_host(what, return_address);
}

}  // namespace cpu
