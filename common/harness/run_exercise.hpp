/// \file
/// The whole of the programs that judge an exercise. They print nothing: what they find goes to a file, as
/// JSON.
#pragma once

#include "exercise.hpp"

namespace workbook {

/// One version of an exercise that a program holds.
struct Version {
  const char* name;  ///< "reader", "solution", "mutant_tail"
  Exercise (*exercise)();
};

/// `PROGRAM VERSION FILE` judges that version on the CPU device and writes the verdict to the file:
///
///     status        "running", with `at`, until the end; then "solved" or "not yet"
///     dims          "N"
///     cases[]       shape ("5"), alignment (in words), right, message
///     budget[]      what, counted, allowed, per_element, over, excess; only when all cases are right
///     predictions[] name, predicted, counted ("right", "more" or "fewer")
///     learnt, lesson
///
/// Returns 0 when there is a verdict, 2 for other arguments.
int judge_exercise(int argc, const char* const* argv, const Version* versions, int count);

/// `PROGRAM FILE` times two versions on the GPU, in the same run, and writes `device`, `at`, and by version
/// name `message` (when it is wrong there) and `time_us`, the median. Returns 0 when there is something to
/// read, 3 without a GPU, 4 for an exercise that asks for numbers.
int time_exercise(int argc, const char* const* argv, const Version* versions, int count);

}  // namespace workbook
