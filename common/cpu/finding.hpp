/// \file
/// What the CPU device says when a kernel does something that a GPU would not survive, or would not define.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace cpu {

/// The message names the kernel, the thread and block, the array and index, the source line, and what to look
/// at.
struct Finding : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where an instruction of a kernel stands in the sources.
struct SourceLine {
  std::string function;  ///< without namespaces and parameters; empty when unknown
  std::string file;      ///< relative to the project; empty when unknown
  int line = 0;
};

/// The place in the sources of the instruction before `return_address`: of an inlined chain the innermost
/// frame that is not part of the CPU device. Runs addr2line, so the first time it takes a few milliseconds.
const SourceLine& source_line(std::uintptr_t return_address);

/// Whether two instructions stand in the same line: the compiler may have made several of one call.
bool same_line(std::uintptr_t return_address, std::uintptr_t other);

/// Name of the function that starts at `address` and where it is defined.
SourceLine function_at(std::uintptr_t address);

}  // namespace cpu
