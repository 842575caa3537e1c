/// \file
/// Where the loads and stores of kernels reach the device: trace.cpp defines the functions that the compiler
/// calls at each of them. Accesses that the compiler does not report, such as an atomic's, come through the
/// function below, and are checked and counted like the others.
#pragma once

#include "cpu_device/access.hpp"

namespace cpu {

void trace_access(const void* address, unsigned size, AccessKind kind, const void* return_address,
                  AccessManner manner = AccessManner::kPlain, Scope scope = Scope::kDevice);

}  // namespace cpu
