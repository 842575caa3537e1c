/// \file
/// What the reader has done so far: a small file, safe against a kill while it is written and against two
/// terminals.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace workbook {

struct Standing {
  bool solved = false;
  int hints = 0;  ///< shown so far
};

/// Standing by exercise (ExerciseFiles::key). What is not there has not been begun.
using State = std::map<std::string, Standing>;

/// Reads `folder`/state.json; exercises that have been renamed are there by their current key. A damaged file
/// is set aside, and a line on standard error says so.
State load_state(const std::filesystem::path& folder);

/// Changes the standing of one exercise on disk, while no other program can. \throws MachineError when the
/// folder cannot be written
void change_standing(const std::filesystem::path& folder, const std::string& key,
                     const std::function<void(Standing&)>& change);

}  // namespace workbook
