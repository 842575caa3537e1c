#include "cpu/finding.hpp"

#include <fmt/format.h>

#include "cpu/source_line.hpp"

namespace cpu {

Finding finding_in(const void* kernel, const Mistake& mistake) {
  const SourceLine place = function_at(kernel);
  return Finding(fmt::format("{}: kernel {} ({}:{})\n{}\n  look at: {}", mistake.kind, place.function,
                             place.file, place.line, mistake.details, mistake.look_at));
}

}  // namespace cpu
