/// \file
/// Integer divisions by zero. The compiler reports them (-fsanitize=integer-divide-by-zero): left alone, some
/// would end the program with a signal, and of others the compiler makes any number.
#include <fmt/format.h>
#include <signal.h>

#include <cstdint>

#include "cpu_device/access.hpp"
#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/program_image/source_line.hpp"
#include "cpu_device/running/device.hpp"
#include "system/say.hpp"

namespace cpu {
namespace {

void divided_by_zero(const void* return_address) {
  const auto instruction = reinterpret_cast<std::uintptr_t>(return_address);
  if (!grid_runs) {  // host code, which the processor's division would end on most machines
    const SourceLine& place = source_line(instruction);
    workbook::say("{}:{}: host code divides an integer by zero\n", place.file, place.line);
    signal(SIGFPE, SIG_DFL);
    raise(SIGFPE);
  }
  stop_launch(
      {"division by zero",
       fmt::format("  {} divides an integer by zero, with / or %, at {}", running_thread_name(),
                   place_text(instruction)),
       "which values does this thread have there? CUDA leaves the result undefined: a GPU goes on with "
       "some number"});
}

}  // namespace
}  // namespace cpu

extern "C" void __ubsan_handle_divrem_overflow(void*, unsigned long, unsigned long) {
  cpu::divided_by_zero(CALLER);
}
