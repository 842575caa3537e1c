/// \file
/// Functions of run_published.cpp for the stand-ins of libraries.
#pragma once

#include <cstddef>

namespace published {

/// A finding, which ends the program, where `bytes` bytes from `address` on are not all in one array, or in
/// one that was freed. Host memory is not checked. The message says what `call`, at the address `caller`,
/// `does` with them: "reads" or "writes".
void require_inside(const char* call, const char* does, const void* address, std::size_t bytes,
                    const void* caller);

/// Notes that the host has computed something in place of a library's kernels.
void count_library_call(const char* library);

}  // namespace published
