/// \file
/// Trying out kernels.
#pragma once

#include "harness/backends/device_kind.hpp"
#include "workbook.hpp"

namespace workbook {

/// What messages say where an option is not for the file at hand.
constexpr const char* kForMain =
    "--with, -I, -D, --set, --gpus, --model, --launches and arguments are for a file with a main";

/// How a file is played.
struct PlayRequest {
  DeviceKind device = DeviceKind::kCpu;
  bool json = false;               ///< for a program to read
  bool lines = false;              ///< show what each source line costs as well
  std::vector<std::string> notes;  ///< kinds of findings that are to be notes
  std::string view;                ///< the path of a file for the data of a page; empty: none
  bool fresh = false;              ///< write a starter file first
  // For a file with a main of its own:
  std::vector<std::string> more_files;             ///< other sources of the program
  std::vector<std::string> includes, definitions;  ///< for -I and -D
  std::vector<std::string> constants;              ///< "B=2": the value of `int B = 8` is to be 2
  int launches = 0;                                ///< ends after so many; 0: at its own end
  int gpus = 0;                                    ///< that it sees; 0: one
  std::string model;                               ///< whose properties it sees; empty: an H200's
  std::vector<std::string> arguments;              ///< of main

  /// Whether there is an option that only a file with a main has.
  bool is_for_main() const {
    return !more_files.empty() || !includes.empty() || !definitions.empty() || !constants.empty() ||
           launches || gpus || !model.empty() || !arguments.empty();
  }
};

/// `play FILE`: builds the file, calls its `void play()` on the device, or its `main` where it has one, and
/// shows what each launch cost, or the mistake that was found. A starter file is written first if `fresh`
/// says so, and offered on a terminal where there is no file. Returns the exit status of that program, or
/// kWrong when the file does not compile. \throws UsageError
int play_command(const Workbook& workbook, const std::string& file, const PlayRequest& request);

}  // namespace workbook
