/// \file
/// CUDA's functions and types on the CPU device, without its keywords: those are dialect.hpp's for kernel
/// files, and the translator's for programs (program.hpp). Every function here is always inlined,
/// because the linker could take a traced function that stayed out of line for one of the plain program's.
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdio.h>

#include "cpu_device/dialect/bfloat16.hpp"
#include "cpu_device/dialect/half.hpp"
#include "cpu_device/dialect/math.hpp"
#include "cpu_device/dialect/pipeline.hpp"
#include "cpu_device/dialect/runtime.hpp"
#include "cpu_device/dialect/vector_types.hpp"
#include "cpu_device/dialect/warp.hpp"
#include "cpu_device/dialect/wmma.hpp"

// The device's own code in a kernel file: when it reads a launch's arguments, that is no memory access of the
// kernel.
#ifdef __clang__
#define WORKBOOK_UNTRACED __attribute__((no_sanitize("thread", "coverage")))
#else
#define WORKBOOK_UNTRACED __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#endif

namespace cpu {

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
[[gnu::always_inline]] inline void __stcs(T* p, const T& value) {
  *p = value;
}
template <class T>
[[gnu::always_inline]] inline void __stcg(T* p, const T& value) {
  *p = value;
}

// These two are more: a load that asks the memory again each time, and a store that all GPUs can see. nvcc
// makes both strong accesses of system scope (PTX ISA, 8.6), so that a word may be handed over by them.
template <class T>
[[gnu::always_inline]] inline T __ldcv(const T* p) {
  T value;
  strong_load(&value, p, sizeof(T), false);
  return value;
}
template <class T>
[[gnu::always_inline]] inline void __stwt(T* p, const T& value) {
  const T loaded = value;  // where it is in memory, that is traced, too
  strong_store(p, &loaded, sizeof(T));
}

/// Ends the launch with an error: on the CPU device, with a finding that names this line.
[[gnu::always_inline, noreturn]] inline void __trap(const char* file = __builtin_FILE(),
                                                    int line = __builtin_LINE()) {
  trap(file, line);
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
       .closure = &body,
       .closure_bytes = sizeof body});
}

/// Runs body(gpu) for each of the GPUs 0 to gpus - 1, and returns when all have ended. Its launches run
/// on that GPU while the others run theirs.
template <class Body>
void on_each_gpu(int gpus, const Body& body) {
  on_each_gpu(
      gpus, [](const void* what, int gpu) { (*static_cast<const Body*>(what))(gpu); }, &body);
}

/// Runs `kernel<<<grid, block>>>(args...)`.
template <class... Params, class... Args>
void launch(void (*kernel)(Params...), dim3 grid, dim3 block, Args... args) {
  launch_shared(kernel, grid, block, 0, args...);
}

}  // namespace cpu
