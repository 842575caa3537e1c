#include "cpu_device/findings/notes.hpp"

#include <algorithm>

#include "cpu_device/program_image/source_line.hpp"
#include "cpu_device/running_thread.hpp"

namespace cpu {

bool Notes::wanted(FindingKind kind) const {
  return kind.can_go_on() && std::find(words_.begin(), words_.end(), kind.word()) != words_.end();
}

std::vector<std::string> Notes::take() {
  std::vector<std::string> texts;
  for (const Note& one : notes_)
    texts.push_back(std::string("note: ") + finding_in(one.kernel, one.mistake).what());
  notes_.clear();
  instructions_.clear();
  lines_.clear();
  return texts;
}

void Notes::add(const Mistake& mistake) {
  const void* const kernel = running().launch.kernel;
  if (!instructions_.emplace(mistake.kind, kernel, mistake.instruction).second) return;
  const SourceLine line = mistake.instruction ? source_line(mistake.instruction) : SourceLine{};
  if (lines_.emplace(mistake.kind, kernel, line.file, line.line).second) notes_.push_back({mistake, kernel});
}

bool Notes::has(FindingKind kind, std::uintptr_t instruction) const {
  return instructions_.contains({kind, running().launch.kernel, instruction});
}

bool Notes::has(FindingKind kind) const {
  const void* const kernel = running().launch.kernel;
  return std::any_of(notes_.begin(), notes_.end(),
                     [&](const Note& one) { return one.mistake.kind == kind && one.kernel == kernel; });
}

void note(const Mistake& mistake) {
  need_block_order();
  notes().add(mistake);
}
bool is_noted(FindingKind kind, std::uintptr_t instruction) { return notes().has(kind, instruction); }

Notes& notes() {
  static Notes instance;
  return instance;
}

}  // namespace cpu
