/// \file
/// The cost of each source line of a kernel, and the table of `--lines`.
#pragma once

#include <string>
#include <vector>

#include "cpu_device/counts.hpp"

namespace workbook {

/// The cost of the instructions of one source line.
struct LineCounts {
  std::string file;  ///< as in SiteCounts
  int line = 0;
  Counts counts;
};

/// The lines of these launches that have counts, by file and number.
std::vector<LineCounts> line_counts(const std::vector<LaunchCounts>& launches);

/// For each kernel, in the order of their first launches, its source lines with their counts and the sums. No
/// line has more than line_width() characters.
std::string lines_text(const std::vector<LaunchCounts>& launches);

/// The lines of a text.
std::vector<std::string> text_lines(const std::string& text);
/// The lines of a source file by its name in the debug information; empty where it is not there.
const std::vector<std::string>& source_lines(const std::string& name);

}  // namespace workbook
