/// \file
/// The cost of each source line of a kernel, for `--lines` and for the page of the command `view`.
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

/// The subject of a page.
struct View {
  std::string title;   ///< "01.4_sum", "mine.cu"
  std::string file;    ///< the reader's, which is shown whole
  std::string at;      ///< "N = 5000, blocks of 256 threads"; may be empty
  std::string result;  ///< what is wrong with the output, or that it is right; may be empty
  std::vector<LaunchCounts> launches;
  std::vector<std::string> findings, notes;
};

/// The data of the page as JSON. Besides, `text` is lines_text(). Its fields are described where the page
/// reads them, in cli/view.html.
std::string view_json(const View& view);

}  // namespace workbook
