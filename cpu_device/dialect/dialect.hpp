/// \file
/// CUDA C++ for the CPU device: what a kernel file may use when the host compiler compiles it. Included by
/// kernel files alone, through device.hpp.
#pragma once

#include "cpu_device/dialect/cuda.hpp"
#include "cpu_device/dialect/unsupported.hpp"

// CUDA's own keywords. A kernel is never inlined, so that messages can name it; everything that it calls is
// inlined into it, so that its loops can be followed.
#define __global__ __attribute__((noinline, flatten))
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
// The keyword may not stand after the `static` of __shared__, where nvcc's users write it; the attribute may.
#define alignas(...) __attribute__((aligned(::cpu::detail::alignment_in_bytes<__VA_ARGS__>())))

// Shared memory is the thread's own static storage: all threads of a block run on one operating-system
// thread, and addresses in that segment can be told from those of ordinary variables.
#ifdef __clang__
#define __shared__ static thread_local
#else  // without constinit, g++ guards a variable of class type, and the guard would be shared memory too
#define __shared__ static thread_local constinit
#endif

#define threadIdx (::cpu::thread_index())
#define blockIdx (::cpu::block_index())
#define blockDim (::cpu::block_extent())
#define gridDim (::cpu::grid_extent())

// What compilers and the C library's headers call is the device's own instead: the copy of a structure may
// become a memcpy, which must be traced (trace.cpp); an assert that fails is a finding (assertions.cpp), and
// so is a kernel that ends the program or throws an exception (host_calls.cpp).
__asm__(
    ".set memcpy, __tsan_memcpy\n"
    ".set memmove, __tsan_memmove\n"
    ".set memset, __tsan_memset\n"
    ".set __assert_fail, workbook_assert_fail\n"
    ".set abort, workbook_abort\n"
    ".set exit, workbook_exit\n"
    ".set _exit, workbook_exit_at_once\n"
    ".set _Exit, workbook_exit_at_once\n"
    ".set quick_exit, workbook_quick_exit\n"
    ".set _ZSt9terminatev, workbook_terminate\n"
    ".set __cxa_allocate_exception, workbook_allocate_exception");

namespace cpu {

namespace detail {

// What alignas is given: a type, or a number of bytes.
template <class T>
constexpr size_t alignment_in_bytes() {
  return alignof(T);
}
template <size_t kBytes>
constexpr size_t alignment_in_bytes() {
  return kBytes;
}

}  // namespace detail

// The C library's functions that end a program, for host code; in a kernel they are findings that name this
// line. (Two calls that look the same to the compiler may become one.)
[[gnu::always_inline, noreturn]] inline void abort(const char* file = __builtin_FILE(),
                                                   int line = __builtin_LINE()) {
  abort_in_line(file, line);
}
[[gnu::always_inline, noreturn]] inline void exit(int status, const char* file = __builtin_FILE(),
                                                  int line = __builtin_LINE()) {
  exit_in_line(status, file, line);
}

}  // namespace cpu
