/// \file
/// The data of the page that shows what each source line costs, and in which line a finding is.
#pragma once

#include <string>
#include <vector>

#include "cpu_device/counts.hpp"

namespace workbook {

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
/// reads them, in cli/commands/view.html.
std::string view_json(const View& view);

}  // namespace workbook
