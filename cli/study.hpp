/// \file
/// What a reader asks for between two checks: hints, the solution, the difference to it, a fresh start.
#pragma once

#include "workbook.hpp"

namespace workbook {

/// `hint [exercise]`: shows one hint more than the last time, with `all` every one.
ExitStatus hint_command(const Workbook& workbook, const std::string& name, bool all);

/// `solution [exercise]`: prints the solution. An exercise that is not solved takes `reveal`.
ExitStatus solution_command(const Workbook& workbook, const std::string& name, bool reveal);

/// `diff [exercise]`: what the solution has otherwise than the reader's file. Likewise.
ExitStatus diff_command(const Workbook& workbook, const std::string& name, bool reveal);

/// `reset [exercise]`: makes the reader's file anew; what it held is kept in the state's folder.
ExitStatus reset_command(const Workbook& workbook, const std::string& name);

/// `skeleton SOLUTION`: prints what `reset` would write, of a solution's file.
ExitStatus skeleton_command(const std::string& solution);

}  // namespace workbook
