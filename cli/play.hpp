/// \file
/// Trying out kernels.
#pragma once

#include "harness/device_kind.hpp"
#include "workbook.hpp"

namespace workbook {

/// `play FILE`: builds the file, calls its `void play()` on the device, and shows what each launch cost, or
/// the mistake that was found; with `json`, for a program to read. Findings of the kinds that `notes` names
/// are notes. Returns the exit status of that program, or kWrong when the file does not compile. \throws
/// UsageError
/// `fresh`: writes a starter file first. Without it, offers one on a terminal where there is no file.
int play_command(const Workbook& workbook, const std::string& file, DeviceKind device, bool json,
                 const std::vector<std::string>& notes, bool fresh);

}  // namespace workbook
