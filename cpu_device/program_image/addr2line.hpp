/// \file
/// Source lines of the program's instructions, from its debug information.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cpu {

/// A function at an address: the function itself, or one that is inlined there.
struct Frame {
  std::string function;  ///< with namespaces and parameters; "??" when unknown
  std::string place;     ///< "FILE:LINE", may be followed by a remark; "??:0" when unknown
};

/// The functions at `offset` in the program's file, innermost first. Empty when addr2line (of binutils)
/// cannot be run. Not to be called by two threads at once. The first call starts addr2line and takes up to a
/// second in a large program; later ones ask the same process, which takes microseconds.
std::vector<Frame> frames_at_offset(std::uintptr_t offset);

}  // namespace cpu
