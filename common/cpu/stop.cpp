#include "cpu/stop.hpp"

#include <fmt/format.h>

#include "cpu/cores.hpp"
#include "cpu/device.hpp"
#include "cpu/grid.hpp"
#include "cpu/names.hpp"
#include "cpu/scheduler.hpp"

namespace cpu {

void stop_launch(const Mistake& mistake) { scheduler().stop(mistake); }

void throw_finding(const Mistake& mistake) {
  if (device().worker) throw PartStopped();
  throw finding_in(device().launch.kernel, mistake);
}

Finding stack_overflow(std::uintptr_t instruction) {
  abandon_launch();
  const std::string details =
      fmt::format("  {} needs more than {} KiB for its local variables at {}", running_thread_name(),
                  Fibers::kStackBytes / 1024, place_text(instruction + 1));
  return finding_in(device().launch.kernel,
                    {"too many local variables", details,
                     "a GPU puts a large local array into device memory, thread by thread: is it needed,\n"
                     "  or does it belong into shared memory?"});
}

}  // namespace cpu
