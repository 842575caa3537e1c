/// \file
/// Functions of run_program.cpp for the stand-ins of libraries, and for graphs.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "play/program/runtime.hpp"

namespace program {

/// Where the user's code calls the runtime: a return address, or the line of a launch.
struct Place {
  const void* caller = nullptr;
  const char* file = nullptr;
  int line = 0;

  Place(const void* caller) : caller(caller) {}
  Place(const char* file, int line) : file(file), line(line) {}
};

/// As long as it lives, other threads of the host wait that call the runtime. One thread may have several.
using DeviceLock = std::unique_lock<std::recursive_mutex>;
[[nodiscard]] DeviceLock lock_device();
/// The same for what needs the CPU device. Ends the program where the user's code calls `what` in a
/// constructor before main, or in a destructor after it.
[[nodiscard]] DeviceLock use_device(const char* what);

/// The finding that a call of the runtime is wrong.
[[noreturn]] void refuse_call(const std::string& title, const std::string& details,
                              const std::string& look_at, const Place& place);

/// A finding, which ends the program, where `bytes` bytes from `address` on are not all in one array, or in
/// one that was freed. Host memory is not checked. The message says what `call`, at the address `caller`,
/// `does` with them: "reads" or "writes".
void require_inside(const char* call, const char* does, const void* address, std::size_t bytes,
                    const void* caller);

/// An array in the memory of that GPU.
cudaError_t allocate_named(void** address, std::size_t bytes, const char* name, std::size_t element_size,
                           int gpu);
/// Frees an array, whatever it was allocated with; null is no array.
void release(const char* call, void* address, const Place& place);
/// Whether the program can free the array. Those of graphs come and go.
bool is_allocated(void* address);
void set_allocated(void* address, const std::string& name, bool allocated);
/// Notes that an array is freed. Returns whether it belongs to a graph, which keeps its memory.
bool give_back(void* address);

/// What `call` does: copies in one or three dimensions, and a memset of rows.
void copy_bytes(const char* call, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                const void* caller);
void copy_box(const char* call, const cudaMemcpy3DParms& copy, const void* caller);
void fill_rows(const char* call, const cudaMemsetParams& fill, const void* caller);

/// How often kernels have set conditions of graphs.
std::size_t condition_changes();
/// How often kernels have called clock().
std::size_t clock_calls();

/// Notes that the host has computed something in place of a library's kernels.
void count_library_call(const char* library);

}  // namespace program
