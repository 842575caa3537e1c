/// \file
/// CUDA C++ for the CPU device: what a kernel file may use when the host compiler compiles it. Included by
/// kernel files alone, through device.hpp. Every function here is always inlined, because the linker could
/// take a traced function that stayed out of line for one of the plain program's.
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdio.h>

#include "cpu/bfloat16.hpp"
#include "cpu/half.hpp"
#include "cpu/math.hpp"
#include "cpu/pipeline.hpp"
#include "cpu/runtime.hpp"
#include "cpu/unsupported.hpp"
#include "cpu/vector_types.hpp"
#include "cpu/warp.hpp"
#include "cpu/wmma.hpp"

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

// The device's own code in a kernel file: when it reads a launch's arguments, that is no memory access of the
// kernel.
#ifdef __clang__
#define WORKBOOK_UNTRACED __attribute__((no_sanitize("thread", "coverage")))
#else
#define WORKBOOK_UNTRACED __attribute__((no_sanitize("thread"), no_sanitize_coverage))
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

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// Cache hints: they change where a value is kept, not which sectors are touched.
template <class T>
[[gnu::always_inline]] inline T __ldg(const T* p) {
  return *p;
}
template <class T>
[[gnu::always_inline]] inline T __ldcs(const T* p) {
  return *p;
}
template <class T>
[[gnu::always_inline]] inline T __ldcg(const T* p) {
  return *p;
}
template <class T>
[[gnu::always_inline]] inline T __ldca(const T* p) {
  return *p;
}
template <class T>
[[gnu::always_inline]] inline T __ldlu(const T* p) {
  return *p;
}
template <class T>
[[gnu::always_inline]] inline T __ldcv(const T* p) {
  return *p;
}
template <class T>
[[gnu::always_inline]] inline void __stcs(T* p, const T& value) {
  *p = value;
}
template <class T>
[[gnu::always_inline]] inline void __stcg(T* p, const T& value) {
  *p = value;
}
template <class T>
[[gnu::always_inline]] inline void __stwb(T* p, const T& value) {
  *p = value;
}
template <class T>
[[gnu::always_inline]] inline void __stwt(T* p, const T& value) {
  *p = value;
}

/// Ends the launch with an error: on the CPU device, with a finding that names this line.
[[gnu::always_inline, noreturn]] inline void __trap(const char* file = __builtin_FILE(),
                                                    int line = __builtin_LINE()) {
  trap(file, line);
}

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

/// The block's dynamic shared memory as an array of T; its size in bytes is the argument of
/// `launch_shared` after the block.
template <class T>
[[gnu::always_inline]] inline T* dynamic_shared() {
  return static_cast<T*>(dynamic_shared_memory());
}

/// Runs one thread of a kernel: `closure` is a Body.
template <class Body>
WORKBOOK_UNTRACED void run_thread(const void* closure) {
  (*static_cast<const Body*>(closure))();
}

/// Runs `kernel<<<grid, block, shared_bytes>>>(args...)` on the CPU device, to its end.
/// \throws cpu::Finding at the first mistake of the kernel that the device can see.
template <class... Params, class... Args>
void launch_shared(void (*kernel)(Params...), dim3 grid, dim3 block, size_t shared_bytes, Args... args) {
  static_assert(sizeof...(Params) == sizeof...(Args), "launch: the kernel takes another number of arguments");
  const auto body = [=]() WORKBOOK_UNTRACED { kernel(args...); };
  run({.kernel = reinterpret_cast<const void*>(kernel),
       .grid = {grid.x, grid.y, grid.z},
       .block = {block.x, block.y, block.z},
       .shared_bytes = shared_bytes,
       .thread = run_thread<decltype(body)>,
       .closure = &body});
}

/// Runs `kernel<<<grid, block>>>(args...)`.
template <class... Params, class... Args>
void launch(void (*kernel)(Params...), dim3 grid, dim3 block, Args... args) {
  launch_shared(kernel, grid, block, 0, args...);
}

}  // namespace cpu
