/// \file
/// Notes: what a kernel does that works but is fragile, and findings that the user wants as notes. A finding
/// stops the launch; a note stands beside its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cpu/finding.hpp"

namespace cpu {

/// Records a note of the running launch, and stops nothing. Of the notes of one kind on one source line of
/// one kernel, the first is kept: the one of the lowest block. May be called on a kernel thread's stack and
/// on the scheduler's.
void note(const Mistake& mistake);

/// Whether there is such a note at that instruction already. Then the text of another need not be made, which
/// takes much longer than an access.
bool is_noted(FindingKind kind, std::uintptr_t instruction);

/// The notes of several launches.
class Notes {
 public:
  /// From now on, findings of the kinds that have one of these words are notes, and no others.
  void want(const std::vector<std::string>& words) { words_ = words; }
  /// Whether findings of that kind are notes.
  bool wanted(FindingKind kind) const;
  /// The messages of all notes so far, in the order of launches and blocks: like a finding's, with "note: "
  /// in front. Drops the notes.
  std::vector<std::string> take();

  void add(const Mistake& mistake);
  bool has(FindingKind kind, std::uintptr_t instruction) const;

 private:
  /// When a launch's block made a note. Blocks may run in any order.
  struct Moment {
    std::uint32_t launch;
    std::size_t block;
    friend auto operator<=>(const Moment&, const Moment&) = default;
  };
  struct Note {
    Mistake mistake;
    const void* kernel;
    Moment moment;
  };
  using AtInstruction = std::tuple<FindingKind, const void*, std::uintptr_t>;
  using AtLine = std::tuple<FindingKind, const void*, std::string, int>;

  std::size_t place_of(const Mistake& mistake, const void* kernel);

  mutable std::mutex mutex_;
  std::vector<std::string> words_;
  std::vector<Note> notes_;
  std::map<AtInstruction, std::size_t> by_instruction_;  // where a note is in notes_
  std::map<AtLine, std::size_t> by_line_;
};

/// The notes of the running program.
Notes& notes();

}  // namespace cpu
