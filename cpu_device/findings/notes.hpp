/// \file
/// Notes: what a kernel does that works but is fragile, and findings that the user wants as notes. A finding
/// stops the launch; a note stands beside its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cpu_device/findings/finding.hpp"

namespace cpu {

/// Records a note of the running launch, and stops nothing. Only the first note of each kind is kept per
/// source line and kernel, so blocks run in their order from here on (need_block_order). May be called on a
/// kernel thread's stack and on the scheduler's.
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
  /// The messages of all notes so far: like a finding's, with "note: " in front. Drops the notes.
  std::vector<std::string> take();

  void add(const Mistake& mistake);
  bool has(FindingKind kind, std::uintptr_t instruction) const;
  /// Whether the running kernel has a note of that kind.
  bool has(FindingKind kind) const;

 private:
  struct Note {
    Mistake mistake;
    const void* kernel;
  };

  std::vector<std::string> words_;
  std::vector<Note> notes_;
  // Kinds, kernels and places that have one.
  std::set<std::tuple<FindingKind, const void*, std::uintptr_t>> instructions_;
  std::set<std::tuple<FindingKind, const void*, std::string, int>> lines_;
};

/// The notes of the running program.
Notes& notes();

}  // namespace cpu
