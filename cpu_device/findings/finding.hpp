/// \file
/// The CPU device's report when a kernel does something that would fail on a GPU, or that CUDA leaves
/// undefined.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cpu_device/findings/finding_kind.hpp"

namespace cpu {

/// The message names the kernel, the thread and block, the array and index, the source line, and what to look
/// at.
struct Finding : std::runtime_error {
  using std::runtime_error::runtime_error;
  /// Its name in the option --note; empty where the launch cannot go on after it.
  std::string_view note_word;
};

/// A mistake of a kernel, as text for its Finding.
struct Mistake {
  // No line breaks inside a sentence: whoever shows the message wraps it.
  FindingKind kind;                ///< such as "out of bounds"
  std::string details;             ///< which thread did what and where: lines, each indented by two spaces
  std::string look_at;             ///< what to check next: one paragraph
  std::uintptr_t instruction = 0;  ///< for a note: of the notes on one source line the first is kept
  bool can_go_on = false;          ///< the launch could have gone on after it
};

/// The Finding for a mistake of the kernel at that address.
Finding finding_in(const void* kernel, const Mistake& mistake);

}  // namespace cpu
