/// \file
/// The command for those who add to the workbook: `new`.
#pragma once

#include <string>

#include "workbook.hpp"

namespace workbook {

/// `new stage|exercise CHAPTER.NAME`: writes the files of docs/templates with that name and the chapter's
/// next number, a stage's name into the chapter's list, and says what comes next. \throws UsageError,
/// MachineError
ExitStatus new_command(const Workbook& workbook, const std::string& kind, const std::string& name);

}  // namespace workbook
