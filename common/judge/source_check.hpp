/// \file
/// Looks at the text of a file before it is compiled. Finds ways around the judge: this is not a sandbox; it
/// saves readers from wrong answers that look solved.
#pragma once

#include <string>

namespace workbook {

/// The text with blanks in place of comments, strings and characters; but for what `#include` names.
std::string code_of(const std::string& text);

/// Why a file with this text is not judged, in one sentence: it includes what belongs to the workbook, hides
/// its accesses from the CPU device, changes the dialect, or has a function that a kernel calls and nvcc
/// would not compile for a GPU (specifiers.hpp). Empty when it is judged. Comments and string literals do not
/// count.
std::string refusal(const std::string& text);

}  // namespace workbook
