/// \file
/// The common part of the programs that the command "play" of the workbook runs: their options, and what they
/// say at the end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/backends/backend.hpp"
#include "system/exit_status.hpp"

namespace workbook {

struct PlayOptions {
  std::string file;  ///< the reader's file, as the output names it
  DeviceKind device = DeviceKind::kCpu;
  bool json = false;
  bool lines = false;
  std::string view;                ///< the path of a file for the data of a page; empty: none
  std::vector<std::string> notes;  ///< kinds of findings that are to be notes
  bool is_program = false;         ///< it is a file with a main
  int gpus = 1;                    ///< that a file with a main sees
  std::string model = "h200";      ///< whose properties and limits such a file sees
  int launches = 0;  ///< of a file with a main: its program ends after so many; 0: at its own end
  std::vector<std::string> arguments;  ///< of that main

  /// The details of each launch to keep.
  Detail detail() const { return lines || !view.empty() ? Detail::kInstructions : Detail::kNone; }
};

/// Reads a file's name, the options --device, --json, --lines, --view, --note and --launches, and arguments
/// for the file's main, or returns the exit status of a call that is not understood, or is for --help.
std::optional<ExitStatus> parse_play_options(int argc, const char* const* argv, PlayOptions& options);

/// A mistake that was found in a reader's code, or nothing; and notes.
struct PlayFindings {
  std::string finding, note_word;
  std::vector<std::string> notes;
};

/// Prints what each launch cost, or what was found, in the form that the options say.
void report_play(const PlayOptions& options, const std::string& device,
                 const std::vector<LaunchCounts>& launches, const PlayFindings& found);

/// Tells who has started the program that it comes to its end by itself, whatever its status.
void tell_done();

}  // namespace workbook
