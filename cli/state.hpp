/// \file
/// The reader's progress, in a small file. It survives a program that is killed while it writes, and two
/// programs that write at once.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace workbook {

/// How far the reader is with one exercise.
struct Standing {
  bool solved = false;  ///< at the last check
  int hints = 0;        ///< shown so far
};

/// The standing of each exercise by ExerciseFiles::key(). Exercises that are missing have not been started.
using State = std::map<std::string, Standing>;

/// Reads `folder`/state.json. A damaged file is renamed, and a line on standard error says so.
State load_state(const std::filesystem::path& folder);

/// Changes the standing of one exercise on disk, under a lock. \throws MachineError when the folder cannot be
/// written
void change_standing(const std::filesystem::path& folder, const std::string& key,
                     const std::function<void(Standing&)>& change);

/// \throws MachineError for a file with a `schema` above the one that is `known`; `file` names it
void refuse_newer(long long schema, long long known, const char* file);

/// Gives a damaged file another, unused name, and says so and `what_then` on standard error. The caller holds
/// the lock.
void set_aside(const std::filesystem::path& file, const char* what_then);

}  // namespace workbook
