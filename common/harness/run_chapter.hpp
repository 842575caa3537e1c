/// \file
/// The whole of a chapter's executable.
#pragma once

#include "chapter.hpp"

namespace workbook {

/// Parses the options, verifies and counts or times every stage, prints the table and what to look at next.
/// `gpu` is null in a build without the GPU side.
/// Returns the exit status: 0 right, 1 a stage is wrong, 2 bad usage, 3 the machine lacks what was asked for.
int run_chapter(int argc, const char* const* argv, const Chapter& cpu, const Chapter* gpu);

}  // namespace workbook
