/// \file
/// Exercises that had another name before: what the reader did under the old name counts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "exercises.hpp"

namespace workbook {

/// The key (ExerciseFiles::key) that an exercise has now. 06_tensor_cores/1_wmma, for example, was
/// 05_linear_gelu/6_wmma before chapter 06 was split from chapter 05. Other keys are returned as they are.
std::string current_key(const std::string& key);

/// Moves what the reader wrote under an exercise's old key to the exercise's file. That file is replaced only
/// while it is the untouched skeleton. Returns a line for the reader about each file that was moved.
std::vector<std::string> move_renamed_files(const std::filesystem::path& root,
                                            const std::vector<ExerciseFiles>& exercises);

}  // namespace workbook
