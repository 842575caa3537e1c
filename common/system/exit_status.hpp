/// \file
/// The exit statuses of the workbook's programs.
#pragma once

namespace workbook {

/// The exit status of every program of the workbook: chapters, exercises, `play` and `workbook` itself.
enum ExitStatus {
  kDone = 0,           ///< right, solved, or done
  kWrong = 1,          ///< a stage is wrong, an exercise is not solved, or the CPU device found a mistake
  kBadUsage = 2,       ///< UsageError: the message says what is accepted
  kMachineLacks = 3,   ///< MachineError: the machine or the workbook lacks something, such as a GPU
  kNothingToTime = 4,  ///< the exercise has predictions and no code to time
};

/// The environment variable with the number of a pipe: a program of `play` writes a byte to it when it comes
/// to its end by itself. Without it, the reader's code has ended the program.
constexpr const char* kDoneVariable = "WORKBOOK_PLAY_DONE";

}  // namespace workbook
