/// \file
/// The description of a memory access: its kind, address and instruction.
#pragma once

#include <cstdint>

#include "cpu_device/dialect/runtime.hpp"

namespace cpu {

enum class AccessKind : unsigned char { kLoad, kStore, kAtomic };

/// The memory that an access touches. An asynchronous copy reads global memory and writes shared memory.
enum class Space : unsigned char { kGlobal, kShared, kCopy };

/// How an access differs from a plain one: a volatile access, the atomic of a compare-and-swap or of an
/// exchange, one of __ldcv(), __stwt() and relaxed atomics, or a load that acquires.
enum class AccessManner : unsigned char { kPlain, kVolatile, kCompareAndSwap, kExchange, kRelaxed, kAcquire };

/// One access of the running thread.
struct Access {
  std::uintptr_t instruction;  ///< its return address
  std::uintptr_t address;
  unsigned size;
  AccessKind kind;
  AccessManner manner = AccessManner::kPlain;
  Scope scope = Scope::kDevice;  ///< of an atomic

  /// Whether something must have been written there before. The result of an exchange is rarely used.
  bool needs_value() const { return kind != AccessKind::kStore && manner != AccessManner::kExchange; }
};

}  // namespace cpu

/// In a function that a kernel calls: its return address, which identifies the calling instruction.
#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))
