/// \file
/// Kernels that end their launch themselves: an assert that fails, and __trap().
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "cpu_device/access.hpp"
#include "cpu_device/dialect/runtime.hpp"
#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/host_calls.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/running/device.hpp"
#include "system/say.hpp"

namespace cpu {

void trap(const char* file, int line) {
  refuse_on_host("__trap()", CALLER);
  stop_launch(
      {"trap", fmt::format("  {} executes __trap() at {}", running_thread_name(), place_text(file, line)),
       "the condition that leads to it: which values does this thread have there? printf shows them"});
}

}  // namespace cpu

extern "C" {
/// What assert calls in a kernel's file, in place of the C library's __assert_fail (dialect.hpp).
[[noreturn]] void workbook_assert_fail(const char* condition, const char* file, unsigned line,
                                       const char* function) {
  if (!cpu::grid_runs) {  // host code
    workbook::say("{}:{}: {}: Assertion `{}' failed.\n", file, line, function, condition);
    std::abort();
  }
  cpu::stop_launch({"assertion failed",
                    fmt::format("  in {}, assert({}) is false at {}", cpu::running_thread_name(), condition,
                                cpu::place_text(file, static_cast<int>(line))),
                    "is the condition right? If it is: which values does this thread have there? printf "
                    "shows them"});
}
}
