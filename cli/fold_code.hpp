/// \file
/// Code for a terminal that is narrower than its lines.
#pragma once

#include <cstddef>
#include <string>

namespace workbook {

/// The lines of `code` in lines of at most `width` characters, broken between words and continued four spaces
/// further in. What continues a comment begins with its slashes. The first `marks` characters of a line, as
/// those of a diff, begin each of its parts.
std::string folded(const std::string& code, std::size_t width, std::size_t marks = 0);

}  // namespace workbook
