/// \file
/// std::atomic and the guard of a static variable, in host code of a kernel file. -fsanitize=thread makes the
/// compiler call these functions in place of the instructions; in a kernel they are a finding, because CUDA
/// has neither.
#include <mutex>

#include "cpu_device/access.hpp"
#include "cpu_device/findings/host_calls.hpp"
#include "cpu_device/running/device.hpp"

namespace cpu {
namespace {

void refuse_atomic(const void* return_address) {
  refuse_in_kernel(
      "uses an atomic of C++", return_address,
      "std::atomic, and a static variable that is filled when its function is first called, are the "
      "host's: a kernel has atomicAdd, atomicCAS, ..., and __shared__ or __constant__ variables");
}

__extension__ using Int128 = unsigned __int128;

/// No instruction of every machine reads and writes 16 bytes at once.
std::mutex mutex_of_16_bytes;

Int128 replaced(volatile Int128* address, Int128 value) {
  const std::lock_guard<std::mutex> lock(mutex_of_16_bytes);
  const Int128 old = *address;
  *address = value;
  return old;
}

/// Returns what was there; `value` is there now if that was `expected`.
Int128 swapped(volatile Int128* address, Int128 expected, Int128 value) {
  const std::lock_guard<std::mutex> lock(mutex_of_16_bytes);
  const Int128 old = *address;
  if (old == expected) *address = value;
  return old;
}

}  // namespace
}  // namespace cpu

// The names and parameters are the compilers' interface to the sanitizer (compiler-rt,
// tsan_interface_atomic.h). The last ones are the memory order; the strictest is right for all.
#define WORKBOOK_UPDATE(bits, T, name, builtin)                       \
  T __tsan_atomic##bits##_##name(volatile T* address, T value, int) { \
    cpu::refuse_atomic(CALLER);                                       \
    return builtin(address, value, __ATOMIC_SEQ_CST);                 \
  }
#define WORKBOOK_ATOMIC(bits, T)                                                                             \
  T __tsan_atomic##bits##_load(const volatile T* address, int) {                                             \
    cpu::refuse_atomic(CALLER);                                                                              \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                          \
  void __tsan_atomic##bits##_store(volatile T* address, T value, int) {                                      \
    cpu::refuse_atomic(CALLER);                                                                              \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                          \
  WORKBOOK_UPDATE(bits, T, exchange, __atomic_exchange_n)                                                    \
  WORKBOOK_UPDATE(bits, T, fetch_add, __atomic_fetch_add)                                                    \
  WORKBOOK_UPDATE(bits, T, fetch_sub, __atomic_fetch_sub)                                                    \
  WORKBOOK_UPDATE(bits, T, fetch_and, __atomic_fetch_and)                                                    \
  WORKBOOK_UPDATE(bits, T, fetch_or, __atomic_fetch_or)                                                      \
  WORKBOOK_UPDATE(bits, T, fetch_xor, __atomic_fetch_xor)                                                    \
  WORKBOOK_UPDATE(bits, T, fetch_nand, __atomic_fetch_nand)                                                  \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* address, T* expected, T value, int, int) {   \
    cpu::refuse_atomic(CALLER);                                                                              \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* address, T* expected, T value, int, int) {     \
    cpu::refuse_atomic(CALLER);                                                                              \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                          \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* address, T expected, T value, int, int) {         \
    cpu::refuse_atomic(CALLER);                                                                              \
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    return expected;                                                                                         \
  }

extern "C" {
WORKBOOK_ATOMIC(8, unsigned char)
WORKBOOK_ATOMIC(16, unsigned short)
WORKBOOK_ATOMIC(32, unsigned int)
WORKBOOK_ATOMIC(64, unsigned long)

cpu::Int128 __tsan_atomic128_load(volatile cpu::Int128* address, int) {
  cpu::refuse_atomic(CALLER);
  return cpu::swapped(address, 0, 0);
}
void __tsan_atomic128_store(volatile cpu::Int128* address, cpu::Int128 value, int) {
  cpu::refuse_atomic(CALLER);
  cpu::replaced(address, value);
}
cpu::Int128 __tsan_atomic128_exchange(volatile cpu::Int128* address, cpu::Int128 value, int) {
  cpu::refuse_atomic(CALLER);
  return cpu::replaced(address, value);
}
int __tsan_atomic128_compare_exchange_strong(volatile cpu::Int128* address, cpu::Int128* expected,
                                             cpu::Int128 value, int, int) {
  cpu::refuse_atomic(CALLER);
  const cpu::Int128 old = cpu::swapped(address, *expected, value);
  const bool equal = old == *expected;
  *expected = old;
  return equal;
}
int __tsan_atomic128_compare_exchange_weak(volatile cpu::Int128* address, cpu::Int128* expected,
                                           cpu::Int128 value, int success, int failure) {
  return __tsan_atomic128_compare_exchange_strong(address, expected, value, success, failure);
}
cpu::Int128 __tsan_atomic128_compare_exchange_val(volatile cpu::Int128* address, cpu::Int128 expected,
                                                  cpu::Int128 value, int, int) {
  cpu::refuse_atomic(CALLER);
  return cpu::swapped(address, expected, value);
}

void __tsan_atomic_thread_fence(int) {
  cpu::refuse_atomic(CALLER);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {
  cpu::refuse_atomic(CALLER);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
}
#undef WORKBOOK_ATOMIC
#undef WORKBOOK_UPDATE
