/// \file
/// Running other programs, with limits for those that may loop, crash or print without end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace workbook {

/// What a program may use; 0 means no limit.
struct Limits {
  std::chrono::seconds time{0};  ///< elapsed time
  std::size_t memory_bytes = 0;  ///< of writable memory
  std::size_t output_bytes = 0;  ///< of standard output and error together
  std::size_t file_bytes = 0;    ///< of any file that it writes
};

/// How a program ended.
struct Outcome {
  enum class End { kExited, kSignal, kTooLong, kTooMuchOutput };
  End end = End::kExited;
  int code = 0;        ///< the exit status or the number of the signal
  std::string output;  ///< standard output and error, interleaved as they were written
};

/// Runs a program with an empty standard input, and waits for it. Its children are ended with it. If it
/// cannot be started, the exit status is 127 and the output says why. \throws MachineError when no process
/// can be created
Outcome run_limited(const std::vector<std::string>& words, const Limits& limits);

/// Runs a program on this program's terminal, and waits for it. Returns its exit status, 1 when a signal
/// ended it. \throws MachineError when it cannot be started
int run_program(const std::vector<std::string>& words);

/// The first half of run_program: when it returns, the program's file may be replaced. \throws MachineError
pid_t start_program(const std::vector<std::string>& words);
/// The second half: waits for it. Messages call it `name`.
int status_of_program(pid_t child, const std::string& name);

}  // namespace workbook
