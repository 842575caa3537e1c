/// \file
/// Exercises that an update has renamed or replaced. A renamed one has the same task: what the reader did
/// under the old name counts. One whose task has changed gets a new name and begins unsolved; the reader's
/// file for the old task stays where it is.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "exercises.hpp"
#include "state.hpp"

namespace workbook {

/// The key (ExerciseFiles::key) that an exercise has now. 06_tensor_cores/1_wmma, for example, was
/// 05_linear_gelu/6_wmma before chapter 06 was split from chapter 05. Other keys are returned as they are.
std::string current_key(const std::string& key);

/// Moves what the reader wrote under an exercise's old key to the exercise's file. That file is replaced only
/// while it is the untouched skeleton. Returns a line for the reader about each file that was moved.
std::vector<std::string> move_renamed_files(const std::filesystem::path& root,
                                            const std::vector<ExerciseFiles>& exercises);

/// The changes that updates have made for this reader, one sentence or two for each exercise: renamed ones
/// until they are checked again, and replacements of what the reader has worked on until they are solved.
std::vector<std::string> changes_for(const State& state, const std::filesystem::path& root,
                                     const std::vector<ExerciseFiles>& exercises);

}  // namespace workbook
