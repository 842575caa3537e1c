/// \file
/// The command that checks an exercise at each save.
#pragma once

#include "workbook.hpp"

namespace workbook {

/// `watch [exercise]`: checks it now, and again whenever its file changes, until the reader types q. The key
/// h shows the next hint, n goes to the next exercise, l lists all. \throws UsageError without a terminal
ExitStatus watch_command(const Workbook& workbook, const std::string& name);

}  // namespace workbook
