/// \file
/// Finds ways around the judge in the text of a file, before it runs. This is not a sandbox; it saves readers
/// from wrong answers that look solved.
#pragma once

#include <string>

namespace workbook {

/// Why a file with this text is not judged, in one sentence: it includes what belongs to the workbook, hides
/// its accesses from the CPU device, or changes the dialect. Empty when it is judged. Comments and string
/// literals do not count.
std::string refusal(const std::string& text);

}  // namespace workbook
