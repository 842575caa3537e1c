/// \file
/// All of a chapter's executable.
#pragma once

#include "chapter.hpp"

namespace workbook {

/// Parses the options, verifies and counts or times every stage, and prints the table and what to look at
/// next. `gpu` is null in a build without GPU code. Returns an ExitStatus: kDone when all stages are right,
/// kWrong, kBadUsage or kMachineLacks.
int run_chapter(int argc, const char* const* argv, const Chapter& cpu, const Chapter* gpu);

}  // namespace workbook
