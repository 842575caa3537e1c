/// \file
/// Running the chapters.
#pragma once

#include "workbook.hpp"

namespace workbook {

/// `run [chapter...] [option...]`: the words before the first option name chapters, by the beginning of their
/// names; the options go to each of them. Returns the worst of their exit statuses. \throws UsageError
int run_command(const Workbook& workbook, const std::vector<std::string>& words);

}  // namespace workbook
