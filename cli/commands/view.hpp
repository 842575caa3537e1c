/// \file
/// The command "view": a page that shows the memory accesses of each source line of a kernel.
#pragma once

#include <string>
#include <vector>

#include "commands/play.hpp"
#include "workbook.hpp"

namespace workbook {

/// The arguments of `view`.
struct ViewRequest {
  std::string name;    ///< of an exercise or of a file for `play`; empty: the exercise that is next
  std::string folder;  ///< for the page; empty: "results"
  std::string size;    ///< of an exercise's problem; empty: a small one
  bool lines = false;  ///< print the lines with their counts, and write no page
  PlayRequest play;    ///< how a file for `play` is played
};

/// `view [EXERCISE|FILE]`: builds the reader's file, runs it once on the CPU device, writes a page about what
/// its lines cost and which sectors and banks its warps access, and prints the page's name:
/// "view_01.1_fuse.html" of an exercise, "view_mine.cu.html" of a file, whose ending tells the two apart.
/// Returns kWrong when the file does not compile, or a finding stopped it: then the page shows what was
/// counted before. \throws UsageError, MachineError
ExitStatus view_command(const Workbook& workbook, const ViewRequest& request);

}  // namespace workbook
