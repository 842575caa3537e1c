/// \file
/// Trying out kernels.
#pragma once

#include "workbook.hpp"

namespace workbook {

/// `play FILE`: builds the file, calls its `void play()` on the CPU device or a GPU, and shows what each
/// launch cost, or what was found. \throws UsageError
ExitStatus play_command(const Workbook& workbook, const std::string& file, const std::string& device,
                        bool json);

}  // namespace workbook
