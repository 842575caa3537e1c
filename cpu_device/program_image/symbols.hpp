/// \file
/// The program's own symbol table: where its functions and thread-local variables are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cpu_device/region.hpp"

namespace cpu {

/// Address at which the program was loaded: debug information counts from there.
std::uintptr_t load_base();

/// The addresses of the function at `address`; all of memory when the function is not known.
Region function_region(std::uintptr_t address);

/// Whether a function of the program is at `address`.
bool is_in_function(std::uintptr_t address);

/// A thread-local variable of the program: a static __shared__ array.
struct ThreadLocalVariable {
  std::string name;        ///< without namespaces; "shared memory" when unknown
  std::size_t offset = 0;  ///< within it
};

/// The variable that holds byte `offset` of the program's thread-local segment.
ThreadLocalVariable thread_local_variable(std::size_t offset);

/// Bytes of the __shared__ variables that the body of a kernel declares.
std::size_t static_shared_bytes(const void* kernel);

}  // namespace cpu
