/// \file
/// Accesses of the running thread that the device makes on its behalf, such as an atomic's. The compiler does
/// not report them; they are checked and counted like those that it reports.
#pragma once

#include "cpu/access.hpp"

namespace cpu {

void trace_access(const void* address, unsigned size, AccessKind kind, const void* return_address);

}  // namespace cpu
