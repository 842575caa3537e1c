/// \file
/// What ends a program or leaves a function by force: abort(), exit(), a throw.
#include <cxxabi.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "cpu_device/access.hpp"
#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/host_calls.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/program_image/source_line.hpp"
#include "cpu_device/running_thread.hpp"
#include "system/say.hpp"

namespace cpu {

namespace {

/// Ends the launch with a finding if a kernel calls `function`; if host code does, says where.
void end_program(const char* function, const std::string& place) {
  if (!grid_runs) return workbook::say("{}: host code calls {}\n", place, function);
  stop_launch(
      {"host function in a kernel",
       fmt::format("  {} calls {} at {}", running_thread_name(), function, place),
       "it ends a program, and only host code can call it: a thread of a kernel ends with return, and a "
       "kernel that has found a mistake ends its launch with __trap()"});
}

void end_program(const char* function, const char* file, int line) {
  end_program(function, grid_runs ? place_text(file, line) : fmt::format("{}:{}", file, line));
}

void end_program(const char* function, const void* return_address) {
  const SourceLine& place = source_line(reinterpret_cast<std::uintptr_t>(return_address));
  end_program(function, place.file.c_str(), place.line);
}

}  // namespace

void refuse_end_in_kernel(const char* function, const void* return_address) {
  if (grid_runs) end_program(function, return_address);
}

void abort_in_line(const char* file, int line) {
  end_program("abort()", file, line);
  std::abort();
}

void exit_in_line(int status, const char* file, int line) {
  end_program("exit()", file, line);
  std::exit(status);
}

}  // namespace cpu

// Kernel files call these in place of the C library's functions (dialect.hpp).
extern "C" {
[[noreturn]] void workbook_abort() {
  cpu::end_program("abort()", CALLER);
  std::abort();
}
[[noreturn]] void workbook_exit(int status) {
  cpu::end_program("exit()", CALLER);
  std::exit(status);
}
[[noreturn]] void workbook_exit_at_once(int status) {
  cpu::end_program("_Exit()", CALLER);
  _exit(status);
}
[[noreturn]] void workbook_quick_exit(int status) {
  cpu::end_program("quick_exit()", CALLER);
  std::quick_exit(status);
}
[[noreturn]] void workbook_terminate() {
  cpu::end_program("std::terminate()", CALLER);
  std::terminate();
}
/// A throw begins with a call of this.
void* workbook_allocate_exception(unsigned long bytes) {
  cpu::refuse_in_kernel("throws an exception", CALLER,
                        "device code has no exceptions: a kernel that has found a mistake ends its launch "
                        "with __trap()");
  return abi::__cxa_allocate_exception(bytes);
}
}
