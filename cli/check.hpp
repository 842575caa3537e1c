/// \file
/// Building and judging the reader's file.
#pragma once

#include "workbook.hpp"

namespace workbook {

/// Builds and judges the reader's file of one exercise, prints the verdict, and records it. Returns kDone
/// when it is solved, otherwise kWrong. \throws MachineError when anything but the reader's file cannot be
/// built
ExitStatus check_exercise(const Workbook& workbook, const ExerciseFiles& exercise);

/// Times the reader's file and the solution in the same run, where the workbook was built with a GPU; prints
/// nothing without one. The times are advice and do not change the verdict.
void time_exercise_on_gpu(const Workbook& workbook, const ExerciseFiles& exercise);

/// `check [exercise]`: checks it, times it, and says what is next. \throws UsageError, MachineError
ExitStatus check_command(const Workbook& workbook, const std::string& name);

/// `check --all`: prints one line per exercise. Returns kDone when all are solved, otherwise kWrong.
ExitStatus check_all_command(const Workbook& workbook);

}  // namespace workbook
