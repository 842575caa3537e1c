/// \file
/// Building and judging the reader's file.
#pragma once

#include "system/process.hpp"
#include "workbook.hpp"

namespace workbook {

/// `check [exercise]`: checks it, times it, and says what is next. \throws UsageError, MachineError
ExitStatus check_command(const Workbook& workbook, const std::string& name);

/// `check --all`: prints one line per exercise. Returns kDone when all are solved, otherwise kWrong.
ExitStatus check_all_command(const Workbook& workbook);

/// Builds the program that judges the reader's file. Returns the compiler's errors where that file is at
/// fault, and nothing when it is built. \throws MachineError when anything else cannot be built
std::string build_judge(const Workbook& workbook, const ExerciseFiles& exercise);
/// The path of that program (common/judge/judge.hpp).
std::string judge_program(const Workbook& workbook, const ExerciseFiles& exercise);
/// The time, memory and output that it may use.
Limits judging_limits();

/// What `check` says below the verdict on an exercise that is solved: how to see the solution, and, when it
/// was the last one of its chapter, what was learnt there and which page is next.
std::string solved_text(const Workbook& workbook, const ExerciseFiles& exercise);

}  // namespace workbook
