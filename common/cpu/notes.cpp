#include "cpu/notes.hpp"

#include <algorithm>

#include "cpu/cores.hpp"
#include "cpu/device.hpp"
#include "cpu/source_line.hpp"

namespace cpu {

bool Notes::wanted(FindingKind kind) const {
  return kind.can_go_on() && std::find(words_.begin(), words_.end(), kind.word()) != words_.end();
}

std::vector<std::string> Notes::take() {
  const std::lock_guard lock(mutex_);
  std::stable_sort(notes_.begin(), notes_.end(),
                   [](const Note& a, const Note& b) { return a.moment < b.moment; });
  std::vector<std::string> texts;
  for (const Note& one : notes_)
    texts.push_back(std::string("note: ") + finding_in(one.kernel, one.mistake).what());
  notes_.clear();
  by_instruction_.clear();
  by_line_.clear();
  return texts;
}

/// Where the note of the mistake's kind and line is in notes_, or would be added.
std::size_t Notes::place_of(const Mistake& mistake, const void* kernel) {
  const auto [at_instruction, is_new] =
      by_instruction_.try_emplace({mistake.kind, kernel, mistake.instruction}, notes_.size());
  if (!is_new) return at_instruction->second;
  const SourceLine line = mistake.instruction ? source_line(mistake.instruction) : SourceLine{};
  at_instruction->second =
      by_line_.try_emplace({mistake.kind, kernel, line.file, line.line}, notes_.size()).first->second;
  return at_instruction->second;
}

void Notes::add(const Mistake& mistake) {
  const std::lock_guard lock(mutex_);
  const Device& d = device();
  const std::size_t place = place_of(mistake, d.launch.kernel);
  const Note added = {mistake, d.launch.kernel, {d.launch.number, d.block.number}};
  if (place == notes_.size())
    notes_.push_back(added);
  else if (added.moment < notes_[place].moment)
    notes_[place] = added;
}

bool Notes::has(FindingKind kind, std::uintptr_t instruction) const {
  const std::lock_guard lock(mutex_);
  const Device& d = device();
  const auto found = by_instruction_.find({kind, d.launch.kernel, instruction});
  return found != by_instruction_.end() &&
         notes_[found->second].moment <= Moment{d.launch.number, d.block.number};
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
