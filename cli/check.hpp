/// \file
/// Building and judging the reader's file.
#pragma once

#include "workbook.hpp"

namespace workbook {

/// Builds and judges the reader's file of one exercise, prints the verdict, and notes it. Returns kDone,
/// kWrong, or kMachineLacks when something else than the reader's file cannot be built.
ExitStatus check_exercise(const Workbook& workbook, const ExerciseFiles& exercise);

/// Times the reader's file beside the solution, where the workbook was built with a GPU; prints nothing
/// without one. Advice: nothing depends on it.
void time_exercise_on_gpu(const Workbook& workbook, const ExerciseFiles& exercise);

/// `check [exercise]`: checks it, times it, and says what is next.
ExitStatus check_command(const Workbook& workbook, const std::string& name);

/// `check --all`: a line for each exercise. Returns kDone when all are solved.
ExitStatus check_all_command(const Workbook& workbook);

}  // namespace workbook
