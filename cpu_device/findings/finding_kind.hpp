/// \file
/// The kinds of findings: their titles, what the option --note calls them, and after which a launch can go
/// on.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace cpu {

struct FindingKindRow {
  std::string_view title;  ///< the first words of the message
  std::string_view word;   ///< what the option --note calls it; several kinds may share a word
  bool can_go_on;          ///< the launch can go on after it, so the option can make it a note
};

/// All kinds. Rows with the same word agree in `can_go_on`.
inline constexpr FindingKindRow kFindingKinds[] = {
    {"race in shared memory", "race", true},
    {"race in device memory", "race", true},
    {"uninitialised shared memory", "uninitialised", true},
    {"uninitialised device memory", "uninitialised", true},
    {"barrier that not all threads reach", "barrier", true},
    {"asynchronous copy not waited for", "copy", true},
    {"misaligned access", "misaligned", true},
    {"misaligned fragment", "misaligned", true},
    {"out of bounds", "bounds", false},
    {"out of bounds of shared memory", "bounds", false},
    {"out of bounds of an array", "bounds", false},
    {"not device memory", "pointer", false},
    {"not shared memory", "pointer", false},
    {"warp operation without the caller", "warp", false},
    {"warp operation that a lane does not reach", "warp", false},
    {"votes and barriers mixed", "vote", false},
    {"fragment of several matrices", "fragment", false},
    {"unsupported asynchronous copy", "unsupported", false},
    {"unsupported instruction", "unsupported", false},
    {"infinite loop", "loop", false},
    {"deadlock", "loop", false},
    {"block that waits for a later block", "loop", false},
    {"GPU that waits for ever", "loop", false},
    {"grid.sync() that not all blocks reach", "grid", false},
    {"grid.sync() in a launch that is not cooperative", "grid", false},
    {"too many local variables", "stack", false},
    {"assertion failed", "assert", false},
    {"trap", "assert", false},
    {"division by zero", "division", false},
    {"crash in a kernel", "crash", false},
    {"host function in a kernel", "host", false},
    {"launch refused", "launch", false},
    // Notes only: nothing stops a launch for them.
    {"barrier in several lines", "", true},
    {"barrier without the threads that have ended", "", true},
    {"same value stored by several threads", "", true},
    {"order by a shuffle", "", true},
    {"shuffle from a lane that does not take part", "", true},
    {"output cut off", "", true},
};

/// One of the kinds. A string literal that is the title of one converts to it; any other is a compile error.
class FindingKind {
 public:
  consteval FindingKind(const char* title) : row_(row_of(title)) {}
  constexpr std::string_view title() const { return kFindingKinds[row_].title; }
  constexpr std::string_view word() const { return kFindingKinds[row_].word; }
  constexpr bool can_go_on() const { return kFindingKinds[row_].can_go_on; }
  friend constexpr bool operator==(FindingKind, FindingKind) = default;
  friend constexpr auto operator<=>(FindingKind, FindingKind) = default;

 private:
  static consteval std::size_t row_of(std::string_view title) {
    for (std::size_t row = 0; row < std::size(kFindingKinds); ++row)
      if (kFindingKinds[row].title == title) return row;
    throw std::logic_error("kFindingKinds has no kind with this title");
  }
  std::size_t row_;
};

}  // namespace cpu
