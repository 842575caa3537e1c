/// \file
/// The program of a chapter of several GPUs with a process for each GPU, on one host or on several. A
/// launcher starts them, as in
///
///     torchrun --no-python --nproc-per-node 2 build/bin/several_processes --size 128x8192
#pragma once

#include "chapter.hpp"

namespace workbook {

/// Verifies and times the stages of a chapter as compiled for a GPU, whose first dimension is the number of
/// GPUs; process 0 tells the results. Returns the exit status.
int run_processes(int argc, const char* const* argv, const Chapter& gpu);

}  // namespace workbook
