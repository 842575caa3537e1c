/// \file
/// Atomics of the dialect. A plain operation is atomic: the threads of a block run one at a time, and blocks
/// with atomics on device memory do so as well (need_block_order). It only has to be traced.
#include <algorithm>
#include <cstdint>

#include "cpu_device/access.hpp"
#include "cpu_device/builtins/trace.hpp"
#include "cpu_device/dialect/runtime.hpp"

namespace cpu {
namespace {

template <class T, class Operation>
[[gnu::always_inline]] inline T atomically(T* address, const void* return_address, Operation operation,
                                           Scope scope, AccessManner manner = AccessManner::kPlain) {
  trace_access(address, sizeof(T), AccessKind::kAtomic, return_address, manner, scope);
  const T old = *address;
  *address = operation(old);
  return old;
}

}  // namespace

void strong_load(void* to, const void* from, size_t bytes, bool acquires) {
  trace_access(from, static_cast<unsigned>(bytes), AccessKind::kLoad, CALLER,
               acquires ? AccessManner::kAcquire : AccessManner::kRelaxed);
  __builtin_memcpy(to, from, bytes);
}
void strong_store(void* to, const void* from, size_t bytes) {
  trace_access(to, static_cast<unsigned>(bytes), AccessKind::kStore, CALLER, AccessManner::kRelaxed);
  __builtin_memcpy(to, from, bytes);
}

#define WORKBOOK_ATOMIC_OF(scope, name, T, result)                              \
  T name(T* address, T value) {                                                 \
    return atomically(                                                          \
        address, CALLER, [&](T old) { return static_cast<T>(result); }, scope); \
  }
#define WORKBOOK_ATOMIC(name, T, result)              \
  WORKBOOK_ATOMIC_OF(Scope::kDevice, name, T, result) \
  WORKBOOK_ATOMIC_OF(Scope::kSystem, name##_system, T, result)

WORKBOOK_ATOMIC(atomicAdd, int, static_cast<unsigned>(old) + static_cast<unsigned>(value))  // wraps around
WORKBOOK_ATOMIC(atomicAdd, unsigned, old + value)
WORKBOOK_ATOMIC(atomicAdd, unsigned long long, old + value)
WORKBOOK_ATOMIC(atomicAdd, float, old + value)
WORKBOOK_ATOMIC(atomicAdd, double, old + value)
WORKBOOK_ATOMIC(atomicMin, int, std::min(old, value))
WORKBOOK_ATOMIC(atomicMin, unsigned, std::min(old, value))
WORKBOOK_ATOMIC(atomicMin, unsigned long long, std::min(old, value))
WORKBOOK_ATOMIC(atomicMax, int, std::max(old, value))
WORKBOOK_ATOMIC(atomicMax, unsigned, std::max(old, value))
WORKBOOK_ATOMIC(atomicMax, unsigned long long, std::max(old, value))
WORKBOOK_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
WORKBOOK_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
WORKBOOK_ATOMIC(atomicSub, int, static_cast<unsigned>(old) - static_cast<unsigned>(value))  // wraps around
WORKBOOK_ATOMIC(atomicSub, unsigned, old - value)
WORKBOOK_ATOMIC(atomicAnd, int, (old & value))
WORKBOOK_ATOMIC(atomicAnd, unsigned, (old & value))
WORKBOOK_ATOMIC(atomicOr, int, old | value)
WORKBOOK_ATOMIC(atomicOr, unsigned, old | value)
WORKBOOK_ATOMIC(atomicXor, int, old ^ value)
WORKBOOK_ATOMIC(atomicXor, unsigned, old ^ value)
#undef WORKBOOK_ATOMIC
#undef WORKBOOK_ATOMIC_OF

#define WORKBOOK_EXCHANGE_OF(scope, name, T)                                        \
  T name(T* address, T value) {                                                     \
    return atomically(                                                              \
        address, CALLER, [&](T) { return value; }, scope, AccessManner::kExchange); \
  }
#define WORKBOOK_EXCHANGE(T)                          \
  WORKBOOK_EXCHANGE_OF(Scope::kDevice, atomicExch, T) \
  WORKBOOK_EXCHANGE_OF(Scope::kSystem, atomicExch_system, T)
WORKBOOK_EXCHANGE(int)
WORKBOOK_EXCHANGE(unsigned)
WORKBOOK_EXCHANGE(unsigned long long)
WORKBOOK_EXCHANGE(float)
#undef WORKBOOK_EXCHANGE
#undef WORKBOOK_EXCHANGE_OF

#define WORKBOOK_COMPARE_AND_SWAP(scope, name, T)                                     \
  T name(T* address, T expected, T value) {                                           \
    return atomically(                                                                \
        address, CALLER, [&](T old) { return old == expected ? value : old; }, scope, \
        AccessManner::kCompareAndSwap);                                               \
  }
WORKBOOK_COMPARE_AND_SWAP(Scope::kDevice, atomicCAS, int)
WORKBOOK_COMPARE_AND_SWAP(Scope::kDevice, atomicCAS, unsigned)
WORKBOOK_COMPARE_AND_SWAP(Scope::kDevice, atomicCAS, unsigned long long)
WORKBOOK_COMPARE_AND_SWAP(Scope::kSystem, atomicCAS_system, int)
WORKBOOK_COMPARE_AND_SWAP(Scope::kSystem, atomicCAS_system, unsigned)
WORKBOOK_COMPARE_AND_SWAP(Scope::kSystem, atomicCAS_system, unsigned long long)
#undef WORKBOOK_COMPARE_AND_SWAP

}  // namespace cpu
