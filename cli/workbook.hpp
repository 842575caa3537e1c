/// \file
/// What the commands share: where things are, which exercises there are, and words for the reader.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "exercises.hpp"
#include "harness/exit_status.hpp"
#include "state.hpp"

namespace workbook {

struct Workbook {
  std::filesystem::path root, build, state_folder;
  std::vector<std::string> chapters;
  std::vector<ExerciseFiles> exercises;

  bool is_solved(const ExerciseFiles& exercise) const;
  /// The first exercise that is not solved; null when there is none.
  const ExerciseFiles* next_open() const;
  /// The exercise that a name means to the reader, who is in the working folder; an empty name: the next open
  /// one, or the last when all are solved. \throws UsageError
  const ExerciseFiles& exercise(const std::string& name) const;
  /// A path as the reader may type it at the root of the workbook.
  std::string shown(const std::filesystem::path& path) const;
};

Workbook find_workbook();

/// Builds a target with ninja, one build at a time. What the compiler had to say is in `errors`, as it said
/// it, but for paths, which are relative to the root.
struct Build {
  bool done = false;
  std::string failed;  ///< the first file that could not be made
  std::string errors;
};
Build build_target(const Workbook& workbook, const std::string& target);

/// Words in lines of at most `width` characters, each behind `indent` spaces.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width = 79);

/// Text with `indent` spaces before each line that is not empty; what gets longer than `width` is wrapped.
std::string indented(const std::string& text, std::size_t indent, std::size_t width = 79);

}  // namespace workbook
