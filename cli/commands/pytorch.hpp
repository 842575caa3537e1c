/// \file
/// Judging exercises that are written in Python and need PyTorch.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "exercises.hpp"
#include "system/process.hpp"

namespace workbook {

/// A Python that has PyTorch 2.10 or newer: the one that WORKBOOK_TORCH of the environment names, itself or
/// by its folder; or else python3, or the environment that `./workbook run 09` makes. \throws MachineError
/// that says what is missing and how to get it
std::string python_with_pytorch();

/// The call that judges the reader's file and writes the verdict to `result`, in the form of
/// common/judge/judge.hpp (solutions/09_pytorch/judge.py).
std::vector<std::string> python_judge(const std::string& python, const ExerciseFiles& exercise,
                                      const std::string& result);

/// The limits of that call. It stops the reader's code itself, after a shorter time.
Limits python_judging_limits();

}  // namespace workbook
