/// \file
/// The commands for working on an exercise between two checks: `hint`, `solution`, `diff`, `reset`.
#pragma once

#include "workbook.hpp"

namespace workbook {

/// `hint [exercise]`: shows the next hint, with `all` every hint. \throws UsageError, MachineError
ExitStatus hint_command(const Workbook& workbook, const std::string& name, bool all);

/// `solution [exercise]`: prints the solution. For an exercise that is not solved it needs `reveal`.
/// \throws UsageError, MachineError
ExitStatus solution_command(const Workbook& workbook, const std::string& name, bool reveal);

/// `diff [exercise]`: prints the differences between the reader's file and the solution. For an exercise that
/// is not solved it needs `reveal`. \throws UsageError, MachineError
ExitStatus diff_command(const Workbook& workbook, const std::string& name, bool reveal);

/// `reset [exercise]`: replaces the reader's file by the skeleton; keeps a copy in the state's folder.
/// \throws UsageError, MachineError
ExitStatus reset_command(const Workbook& workbook, const std::string& name);

/// `skeleton SOLUTION`: prints the skeleton that `reset` would write for this solution file.
/// \throws MachineError
ExitStatus skeleton_command(const std::string& solution);

}  // namespace workbook
