#include "cpu/stop.hpp"

#include <fmt/format.h>

#include "cpu/cores.hpp"
#include "cpu/device.hpp"
#include "cpu/grid.hpp"
#include "cpu/names.hpp"
#include "cpu/notes.hpp"
#include "cpu/scheduler.hpp"

namespace cpu {
namespace {

/// The mistake of a launch that could go on after it.
Mistake with_way_on(Mistake mistake) {
  mistake.can_go_on = true;
  return mistake;
}

}  // namespace

void stop_launch(const Mistake& mistake) { scheduler().stop(mistake); }

void throw_finding(const Mistake& mistake) {
  if (device().worker) throw PartStopped();
  throw finding_in(device().launch.kernel, mistake);
}

void stop_or_note(const Mistake& mistake) {
  if (!notes().wanted(mistake.kind)) stop_launch(with_way_on(mistake));
  note(mistake);
}

void throw_or_note(const Mistake& mistake) {
  if (!notes().wanted(mistake.kind)) throw_finding(with_way_on(mistake));
  note(mistake);
}

Finding stack_overflow(std::uintptr_t instruction) {
  abandon_launch();
  const std::string details =
      fmt::format("  {} needs more than {} KiB for its local variables at {}", running_thread_name(),
                  Fibers::kStackBytes / 1024, place_text(instruction + 1));
  return finding_in(device().launch.kernel,
                    {"too many local variables", details,
                     "a GPU keeps a large local array in device memory, one for each thread: is it needed, "
                     "or does it belong in shared memory?"});
}

}  // namespace cpu
