/// \file
/// Running other programs, with limits for those that may loop, crash or print without end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace workbook {

/// Limits for a program; 0 means no limit.
struct Limits {
  std::chrono::seconds time{0};     ///< elapsed time
  std::chrono::seconds silence{0};  ///< elapsed time without any output
  std::size_t memory_bytes = 0;     ///< of writable memory
  std::size_t output_bytes = 0;     ///< of standard output and error together
  std::size_t file_bytes = 0;       ///< of any file that it writes
  int signal_of_end = SIGKILL;      ///< what it gets when this program is gone
};

/// How long a program with the reader's code may run: WORKBOOK_MINUTES of the environment, or `usual`.
/// \throws MachineError where the variable has another value than a number of minutes
std::chrono::seconds time_limit(std::chrono::seconds usual);
/// The usual limit for programs that do not judge: those of `run`, `predict` and `play`
constexpr std::chrono::minutes kUsualTime{30};
/// Says that a program has run for time_limit(kUsualTime) and was stopped.
std::string too_long_text(const std::string& name);
/// "30 minutes", "45 seconds"
std::string duration_text(std::chrono::seconds time);

/// How a program ended.
struct Outcome {
  enum class End { kExited, kSignal, kTooLong, kTooMuchOutput };
  End end = End::kExited;
  int code = 0;        ///< the exit status or the number of the signal
  std::string output;  ///< standard output and error, interleaved as they were written
};

/// Thrown when a signal that ends a program (Ctrl-C, SIGTERM, SIGHUP) arrives while another program runs.
struct Interrupted {
  int signal;
};

/// Whether a program or script is all there. One that was being written when power was lost is empty, or ends
/// in the middle.
bool is_whole_program(const std::filesystem::path& file);

/// Runs a program with an empty standard input, and waits for it. All that it has started ends with it, also
/// processes in other process groups, as the compilers are that ninja starts. If the program cannot be
/// started, the exit status is 127 and the output says why. \throws MachineError when no process can be
/// created, or when the program's file is damaged, which is then deleted; Interrupted when a signal has ended
/// it
Outcome run_limited(const std::vector<std::string>& words, const Limits& limits);

/// Ends this program by the signal, as if it had not been caught.
[[noreturn]] void end_by(const Interrupted& interrupted);

/// Runs a program on this program's terminal, and waits for it. Returns its exit status, 1 when a signal
/// ended it or it took longer than time_limit(kUsualTime), which a line says. Where SIGPIPE has ended it,
/// since nobody reads on, that signal ends this program, too. The program gets SIGTERM when this one ends
/// first. \throws MachineError when no process can be created
int run_program(const std::vector<std::string>& words);

/// The first half of run_program, which lets it run for `time`; 0 means no limit. When it returns, the
/// program's file may be replaced. \throws MachineError
pid_t start_program(const std::vector<std::string>& words, std::chrono::seconds time = {});
/// The second half: waits for it. Messages call it `name`.
int status_of_program(pid_t child, const std::string& name);

/// Runs the program of `play` with the reader's file on this program's terminal, and waits for it. Calls
/// `started` when the program's file may be replaced. Processes that it leaves behind are ended.
/// Returns its exit status; kWrong when a signal or the reader's code has ended it, and says so.
/// \throws MachineError when no process can be created; Interrupted
int run_readers_program(const std::vector<std::string>& words, const std::string& file,
                        const std::function<void()>& started);

}  // namespace workbook
