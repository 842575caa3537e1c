/// \file
/// The program that the command "play" of the workbook runs.
#pragma once

namespace workbook {

/// `PROGRAM FILE [--device cpu|gpu] [--json] [--lines] [--view FILE] [--note KIND]...` runs a reader's `play`
/// and prints what each launch cost, or the mistake that was found, and notes; with --lines, what each source
/// line cost as well. --view writes the data of a page to a file instead of the table (line_page.hpp). FILE
/// is the name of the reader's file in the output. `gpu` is null in a build without GPU code. Returns kDone,
/// kWrong when a mistake was found, kBadUsage, or kMachineLacks without the device.
int run_play(int argc, const char* const* argv, void (*cpu)(), void (*gpu)());

}  // namespace workbook
