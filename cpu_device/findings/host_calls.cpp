#include "cpu_device/findings/host_calls.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/finding.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/program_image/source_line.hpp"

namespace cpu {

void refuse_in_kernel(const char* does, const void* return_address, const char* look_at) {
  if (!grid_runs) return;
  stop_launch({"host function in a kernel",
               fmt::format("  {} {} at {}", running_thread_name(), does,
                           place_text(reinterpret_cast<std::uintptr_t>(return_address))),
               look_at});
}

void throw_called_by_host(const char* what, const void* return_address) {
  const SourceLine place = source_line(reinterpret_cast<std::uintptr_t>(return_address));
  throw Finding(
      fmt::format("kernel function on the host: {} ({}:{})\n  host code uses {} at line {}\n"
                  "  look at: only the threads of a kernel have it: does this belong in a function with "
                  "__global__ or __device__?",
                  place.function, place.file, place.line, what, place.line));
}

}  // namespace cpu
