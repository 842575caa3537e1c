/// \file
/// Running a program that may do anything: loop, crash, print without end.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace workbook {

/// What a program may take. 0: as much as it likes.
struct Limits {
  std::chrono::seconds time{0};  ///< on the clock
  std::size_t memory_bytes = 0;  ///< of data that it can write
  std::size_t output_bytes = 0;  ///< standard output and error together
  std::size_t file_bytes = 0;    ///< of any file that it writes
};

struct Outcome {
  enum class End { kExited, kSignal, kTooLong, kTooMuchOutput };
  End end = End::kExited;
  int code = 0;        ///< exit status or number of the signal
  std::string output;  ///< standard output and error, as they came
};

/// Runs a program with nothing to read on its standard input, and waits for it; its children end with it. One
/// that cannot be started exits with 127 and says so.
Outcome run_limited(const std::vector<std::string>& words, const Limits& limits);

/// Runs a program in this one's place on the terminal, and waits for it. Returns its exit status, 1 when a
/// signal ended it. \throws MachineError when it cannot be started
int run_program(const std::vector<std::string>& words);

}  // namespace workbook
