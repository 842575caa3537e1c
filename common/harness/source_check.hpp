/// \file
/// What the text of a file shows before it is run: ways around the judge. That is no sandbox; it saves
/// readers from mistakes that look solved.
#pragma once

#include <string>

namespace workbook {

/// Why a file with this text is not judged, in one sentence: it includes what belongs to the workbook, hides
/// its accesses from the CPU device, or changes the dialect. Empty when it is judged. Comments and string
/// literals do not count.
std::string refusal(const std::string& text);

}  // namespace workbook
