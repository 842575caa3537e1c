#include "cpu_device/findings/finding.hpp"

#include <fmt/format.h>

#include "cpu_device/program_image/source_line.hpp"

namespace cpu {

Finding finding_in(const void* kernel, const Mistake& mistake) {
  const SourceLine place = function_at(kernel);
  Finding finding(fmt::format("{}: kernel {} ({}:{})\n{}\n  look at: {}", mistake.kind.title(),
                              place.function, place.file, place.line, mistake.details, mistake.look_at));
  if (mistake.can_go_on) finding.note_word = mistake.kind.word();
  return finding;
}

}  // namespace cpu
