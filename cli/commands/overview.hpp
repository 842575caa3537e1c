/// \file
/// The commands that show which exercises are solved, and the next step.
#pragma once

#include "workbook.hpp"

namespace workbook {

/// `./workbook`: chapters, what is solved, the next step.
ExitStatus overview_command(const Workbook& workbook);

/// `list`: every chapter and exercise with its state; with `json`, for a program to read.
ExitStatus list_command(const Workbook& workbook, bool json);

}  // namespace workbook
