/// \file
/// What became of a check, in words.
#pragma once

#include <chrono>
#include <string>

#include "process.hpp"

namespace workbook {

/// What the judging of one exercise may take; solutions take a second or two.
constexpr std::chrono::seconds kJudgingTime{10};

struct Verdict {
  bool solved = false;
  std::string text;      ///< for the reader, in lines of 80 columns
  std::string in_short;  ///< "solved", "wrong results", "over budget" ...
};

/// The verdict on a program that was run to judge an exercise: `json` is what it wrote
/// (common/harness/run_exercise.hpp), empty when it wrote nothing; `outcome` is how it ended.
Verdict verdict_of(const std::string& json, const Outcome& outcome);

}  // namespace workbook
