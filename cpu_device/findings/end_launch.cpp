#include "cpu_device/findings/end_launch.hpp"

#include "cpu_device/findings/notes.hpp"
#include "cpu_device/running_thread.hpp"

namespace cpu {
namespace {

/// The mistake of a launch that could go on after it.
Mistake with_way_on(Mistake mistake) {
  mistake.can_go_on = true;
  return mistake;
}

}  // namespace

void throw_finding(const Mistake& mistake) {
  if (running().worker) throw PartStopped();
  throw finding_in(running().launch.kernel, mistake);
}

void stop_or_note(const Mistake& mistake) {
  if (!notes().wanted(mistake.kind)) stop_launch(with_way_on(mistake));
  note(mistake);
}

void throw_or_note(const Mistake& mistake) {
  if (!notes().wanted(mistake.kind)) throw_finding(with_way_on(mistake));
  note(mistake);
}

}  // namespace cpu
