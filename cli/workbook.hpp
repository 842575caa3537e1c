/// \file
/// Shared by the commands: paths, chapters and exercises, building a target.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "exercises.hpp"
#include "state.hpp"
#include "system/exit_status.hpp"

namespace workbook {

/// The workbook that this program was built from.
struct Workbook {
  std::filesystem::path root, build, state_folder;
  std::vector<std::string> chapters;  ///< in the order of the lessons
  std::vector<ExerciseFiles> exercises;
  std::vector<std::string> programs = {};  ///< chapters of which the build has a program: not those in Python

  /// Whether the last check found the exercise solved.
  bool is_solved(const ExerciseFiles& exercise) const;
  /// The first exercise that is not solved; null when all are.
  const ExerciseFiles* next_open() const;
  /// The exercise that `name` stands for in the working folder (see exercise_named). An empty name stands for
  /// the first that is not solved, or the last one when all are. \throws UsageError
  const ExerciseFiles& exercise(const std::string& name) const;
  /// The path relative to the root of the workbook.
  std::string shown(const std::filesystem::path& path) const;
};

/// The version in CMakeLists.txt when this program was built.
std::string version();

/// The workbook at the path that was configured.
Workbook find_workbook();

/// The memory that a compiler may take: `#include "/dev/zero"` would take all.
constexpr std::size_t kCompilerMemory = std::size_t{4} << 30;

/// The result of a build.
struct Build {
  bool done = false;
  std::string failed = {};  ///< the first target that could not be built
  std::string errors = {};  ///< the compiler's output, with paths relative to the root, and advice on it
  std::string lack = {};    ///< what the compiler lacked on this machine; empty where nothing is known
  bool names_place =
      false;  ///< the compiler or the linker ran, lacked nothing, and names a place in a source
};
/// \throws MachineError where a build has failed for another reason than what is in a source
void require_compiler_ran(const Build& build);

/// Builds a target, one build at a time. \throws MachineError when Ninja cannot be started
Build build_target(const Workbook& workbook, const std::string& target);

/// \throws MachineError where a source, or a file beside it that it includes in quotes, cannot be read to its
/// end: a compiler would wait for a pipe for ever
void require_readable(const std::filesystem::path& source);

/// The file of the lock that a build holds.
std::filesystem::path build_lock(const Workbook& workbook);
/// As build_target, for a caller that holds that lock.
Build build_locked_target(const Workbook& workbook, const std::string& target);

}  // namespace workbook
