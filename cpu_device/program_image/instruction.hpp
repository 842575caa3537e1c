/// \file
/// Where the machine instructions of a kernel lead: as much of their encoding as it takes to follow jumps.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cpu {

struct Instruction {
  enum class Flow : unsigned char {
    kNext,     ///< goes on with the next instruction
    kCall,     ///< calls a function, then goes on with the next instruction
    kJump,     ///< to `target`
    kBranch,   ///< to `target`, or goes on
    kEnd,      ///< returns, or stops the program
    kUnknown,  ///< a jump to an address that the instruction does not name, or not a known instruction
  };
  Flow flow = Flow::kUnknown;
  unsigned size = 0;          ///< in bytes; 0 for what is not a known instruction
  std::uintptr_t target = 0;  ///< of a call, jump or branch that names it; else 0
};

/// Decodes the instruction of x86-64 that starts at `code`, of which `bytes` may be read.
Instruction decode_x86_64(const unsigned char* code, std::size_t bytes);
/// Decodes the instruction of AArch64 that starts at `code`, of which `bytes` may be read.
Instruction decode_aarch64(const unsigned char* code, std::size_t bytes);

/// Decodes an instruction of this program.
inline Instruction decode(const unsigned char* code, std::size_t bytes) {
#if defined(__x86_64__)
  return decode_x86_64(code, bytes);
#elif defined(__aarch64__)
  return decode_aarch64(code, bytes);
#else
  (void)code, (void)bytes;
  return {};
#endif
}

}  // namespace cpu
