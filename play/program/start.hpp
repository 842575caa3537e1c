/// \file
/// What all of a program needs first: CUDA's words, and how `kernel<<<grid, block>>>(...)` starts a kernel.
#pragma once

#define WORKBOOK_PROGRAM

// Those that nvcc includes, before any of ours.
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <new>
#include <utility>

#include "cpu_device/dialect/cuda.hpp"
#include "cpu_device/dialect/unsupported.hpp"
#include "play/program/graphs.hpp"
#include "play/program/pools.hpp"
#include "play/program/ptx.hpp"
#include "play/program/runtime.hpp"

#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
// By these, headers know that CUDA's have been included.
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_H__
#define CUDART_CB
#define CUDARTAPI

// As in kernel files (cpu/dialect.hpp), but host code may end the program, and kernels have a heap.
__asm__(
    ".set exit, program_exit\n"
    ".set malloc, workbook_malloc\n"
    ".set free, workbook_free\n"
    ".set _Znwm, workbook_new\n"
    ".set _Znam, workbook_new\n"
    ".set _ZdlPv, workbook_delete\n"
    ".set _ZdaPv, workbook_delete\n"
    ".set _ZdlPvm, workbook_sized_delete\n"
    ".set _ZdaPvm, workbook_sized_delete\n"
    ".set memcpy, __tsan_memcpy\n"
    ".set memmove, __tsan_memmove\n"
    ".set memset, __tsan_memset\n"
    ".set __assert_fail, workbook_assert_fail\n"
    ".set __cxa_allocate_exception, workbook_allocate_exception");

using namespace cpu;

namespace program {

struct Configuration {
  dim3 grid, block;
  size_t shared_bytes = 0;
  cudaStream_t stream;
  const char* file;  ///< of the launch
  int line;
  bool cooperative = false;
  Configuration(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : grid(grid), block(block), shared_bytes(shared_bytes), stream(stream), file(file), line(line) {}
};

/// kernel<<<configuration>>>(arguments...)
template <class... Parameters>
void start(const Configuration& c, void (*kernel)(Parameters...), Parameters... arguments) {
  static_assert((sizeof(Parameters) + ... + 0) <= 32764,
                "the parameters of a kernel have at most 32764 bytes");
  const auto body = [=]() WORKBOOK_UNTRACED { kernel(arguments...); };
  const cpu::Launch started = {.kernel = reinterpret_cast<const void*>(kernel),
                               .grid = {c.grid.x, c.grid.y, c.grid.z},
                               .block = {c.block.x, c.block.y, c.block.z},
                               .shared_bytes = c.shared_bytes,
                               .thread = cpu::run_thread<decltype(body)>,
                               .closure = &body,
                               .closure_bytes = sizeof body,
                               .cooperative = c.cooperative};
  if constexpr ((std::is_trivially_copyable_v<Parameters> && ...)) {
    unsigned char bytes[(sizeof(Parameters) + ... + 1)];
    size_t size = 0;
    ((__builtin_memcpy(bytes + size, &arguments, sizeof arguments), size += sizeof arguments), ...);
    launch(started, {bytes, size}, c.stream, c.file, c.line);
  } else {
    launch(started, {}, c.stream, c.file, c.line);
  }
}

/// A launch of a kernel that a variable points to.
template <class... Parameters>
struct ByPointer {
  void (*kernel)(Parameters...);
  Configuration configuration;
  void operator()(Parameters... arguments) const { start(configuration, kernel, arguments...); }
};
template <class... Parameters>
ByPointer<Parameters...> by_pointer(void (*kernel)(Parameters...), Configuration configuration) {
  return {kernel, configuration};
}

/// A __device__ variable: the translation puts one of these after each.
struct Variable {
  template <class T>
  Variable(const char* name, T& variable) {
    add_variable(name, const_cast<const void*>(static_cast<const volatile void*>(&variable)), sizeof(T),
                 sizeof(std::remove_all_extents_t<T>));
  }
};

template <class T>
struct ElementSize {
  static constexpr size_t kBytes = sizeof(T);
};
template <>
struct ElementSize<void> {
  static constexpr size_t kBytes = 1;
};

/// The arguments are given by their addresses.
template <class... Parameters, size_t... Numbers>
void start_by_addresses(const Configuration& c, void (*kernel)(Parameters...), void** arguments,
                        std::index_sequence<Numbers...>) {
  start<Parameters...>(c, kernel, *static_cast<Parameters*>(arguments[Numbers])...);
}
template <class... Parameters>
void start_at(const void* kernel, const Configuration& c, void** arguments) {
  start_by_addresses(c, reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(kernel)), arguments,
                     std::index_sequence_for<Parameters...>());
}

/// The translation makes `(void*)kernel` one of these: how the kernel is called is noted.
struct KernelAddress {
  void* address;
  template <class... Parameters>
  KernelAddress(void (*kernel)(Parameters...)) : address(reinterpret_cast<void*>(kernel)) {
    add_starter(address, start_at<Parameters...>);
  }
  operator void*() const { return address; }
};

}  // namespace program
