/// \file
/// The verdict on an exercise, in words.
#pragma once

#include <chrono>
#include <string>

#include "system/process.hpp"

namespace workbook {

/// The most time that judging one exercise may take: time_limit(10 seconds). Solutions take one or two.
std::chrono::seconds judging_time();

/// The result of a check.
struct Verdict {
  bool solved = false;
  std::string text;      ///< for the reader, in lines of 80 columns
  std::string in_short;  ///< in a few words: "solved", "wrong", "right, but over budget" ...
};

/// The verdict on a program that was run to judge an exercise: `json` is what it wrote
/// (common/judge/judge.hpp), empty when it wrote nothing; `outcome` is how it ended.
Verdict verdict_of(const std::string& json, const Outcome& outcome);

}  // namespace workbook
