#include "system/process.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "system/errors.hpp"
#include "system/exit_status.hpp"
#include "system/plural.hpp"
#include "system/read_file.hpp"
#include "system/say.hpp"
#include "system/terminal.hpp"

namespace workbook {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<char*> argv_of(std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return argv;
}

void limit(int resource, std::size_t most) {
  if (!most) return;
  const rlimit both = {most, most};
  setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

/// Replaces this process by a program. Unlike execvp, it hands no file to a shell that is neither a program
/// nor a script. Returns only if that fails.
void execute(char* const* argv) {
  if (std::strchr(argv[0], '/')) {
    execv(argv[0], argv);
  } else {
    execvp(argv[0], argv);
  }
}

/// \throws MachineError for a program that is damaged, after deleting it, so that it is linked again
void require_whole_program(const std::string& path) {
  std::error_code error;
  if (path.find('/') == std::string::npos || !std::filesystem::is_regular_file(path, error) ||
      is_whole_program(path))
    return;
  std::filesystem::remove(path, error);
  throw MachineError(fmt::format(
      "{} was damaged, as by a loss of power, and has been deleted; the same command builds it again", path));
}

/// Turns a forked child into the program.
[[noreturn]] void become(char* const* argv, const Limits& limits, int output) {
  setpgid(0, 0);  // so that its children can be ended with it
  prctl(PR_SET_PDEATHSIG, limits.signal_of_end);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  // In case the parent dies and nobody watches the time.
  const auto seconds = std::max(limits.time, limits.silence).count();
  if (seconds > 0) limit(RLIMIT_CPU, static_cast<std::size_t>((seconds + 1) * sysconf(_SC_NPROCESSORS_ONLN)));
  limit(RLIMIT_DATA, limits.memory_bytes);
  limit(RLIMIT_FSIZE, limits.file_bytes);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  execute(argv);
  dprintf(STDERR_FILENO, "%s does not start: %s\n", argv[0], strerror(errno));
  _exit(127);
}

struct Pipe {
  int read_end, write_end;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw MachineError(fmt::format("no pipe: {}", strerror(errno)));
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close(read_end);
    close_write_end();
  }
  void close_write_end() {
    if (write_end >= 0) close(write_end);
    write_end = -1;
  }
};

/// Appends what is in the pipe to `output`. Returns false at the end of the stream.
bool drain(int pipe, std::string& output) {
  char buffer[65536];
  const ssize_t read = ::read(pipe, buffer, sizeof buffer);
  if (read > 0) output.append(buffer, static_cast<std::size_t>(read));
  return read > 0 || (read < 0 && (errno == EINTR || errno == EAGAIN));
}

/// Whether the child has ended, and how.
bool has_ended(pid_t child, Outcome& outcome) {
  int status = 0;
  if (waitpid(child, &status, WNOHANG) != child) return false;
  outcome.end = WIFEXITED(status) ? Outcome::End::kExited : Outcome::End::kSignal;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  return true;
}

/// The parent of a process; 0 when there is no such process any more.
pid_t parent_of(pid_t process) {
  const std::string stat = read_file(fmt::format("/proc/{}/stat", process)).text;
  // "PID (NAME) STATE PARENT ...", and the name may have brackets and spaces.
  const auto after_name = stat.rfind(')');
  if (after_name == std::string::npos) return 0;
  char state = 0;
  pid_t parent = 0;
  return std::sscanf(stat.c_str() + after_name + 1, " %c %d", &state, &parent) == 2 ? parent : 0;
}

std::set<pid_t> children() {
  std::set<pid_t> found;
  std::error_code error;  // a process may end while the folder is read
  for (std::filesystem::directory_iterator entry("/proc", error), end; entry != end; entry.increment(error)) {
    const pid_t process = std::atoi(entry->path().filename().c_str());
    if (process > 0 && parent_of(process) == getpid()) found.insert(process);
  }
  return found;
}

/// Ends the child, its process group, and all that they have started in groups of their own: what loses its
/// parent becomes a child of this process (PR_SET_CHILD_SUBREAPER). `others` are children that may go on.
void end_all(pid_t child, const std::set<pid_t>& others) {
  kill(-child, SIGKILL);
  kill(child, SIGKILL);
  constexpr int kMostGenerations = 100;
  for (int i = 0; i < kMostGenerations; ++i) {
    std::set<pid_t> left = children();
    for (const pid_t other : others) left.erase(other);
    if (left.empty()) return;
    for (const pid_t process : left) kill(process, SIGKILL);
    for (const pid_t process : left) waitpid(process, nullptr, 0);
  }
}

volatile sig_atomic_t ending_signal = 0;
void note_signal(int signal) { ending_signal = signal; }

/// While it lives, a signal that ends a program is noted in ending_signal instead. Those that this program
/// ignores stay ignored.
class EndingSignals {
 public:
  EndingSignals() {
    ending_signal = 0;
    for (std::size_t i = 0; i < std::size(kSignals); ++i) {
      sigaction(kSignals[i], nullptr, &before_[i]);
      struct sigaction action = {};
      action.sa_handler = note_signal;
      if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
    }
  }
  ~EndingSignals() {
    for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[std::size(kSignals)] = {};
};

}  // namespace

std::chrono::seconds time_limit(std::chrono::seconds usual) {
  constexpr double kMost = 1e6;  // about two years
  const char* const text = std::getenv("WORKBOOK_MINUTES");
  if (!text) return usual;
  char* end = nullptr;
  const double minutes = std::strtod(text, &end);
  if (end == text || *end || !(minutes > 0 && minutes <= kMost))
    throw MachineError(fmt::format(
        "WORKBOOK_MINUTES is '{}': expected for how many minutes a program may run, such as 30 or 0.5",
        printable(text)));
  return std::chrono::seconds(static_cast<long long>(std::ceil(60 * minutes)));
}

std::string too_long_text(const std::string& name) {
  const std::chrono::duration<double, std::ratio<60>> limit = time_limit(kUsualTime);
  return fmt::format(
      "{} was still running after {}, and was stopped: is there an infinite loop? "
      "WORKBOOK_MINUTES={:g} lets it run for longer",
      printable(name), duration_text(time_limit(kUsualTime)), 2 * limit.count());
}

std::string duration_text(std::chrono::seconds time) {
  const auto seconds = time.count();
  return seconds % 60 ? plural(seconds, "second") : plural(seconds / 60, "minute");
}

bool is_whole_program(const std::filesystem::path& file) {
  Elf64_Ehdr header = {};
  const std::string begin = read_beginning(file, sizeof header).text;
  if (begin.starts_with("#!")) return true;
  if (begin.size() < sizeof header || !begin.starts_with(ELFMAG)) return false;
  std::memcpy(&header, begin.data(), sizeof header);
  // The table of sections is the last part of a file that a linker writes.
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  return !error && bytes >= header.e_shoff + std::uintmax_t{header.e_shnum} * header.e_shentsize;
}

Outcome run_limited(const std::vector<std::string>& words, const Limits& limits) {
  require_whole_program(words[0]);
  std::vector<std::string> own = words;
  const std::vector<char*> argv = argv_of(own);
  Pipe pipe;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::set<pid_t> others = children();
  const pid_t child = fork();
  if (child < 0) throw MachineError(fmt::format("{} does not start: {}", words[0], strerror(errno)));
  if (child == 0) become(argv.data(), limits, pipe.write_end);
  const EndingSignals signals;
  setpgid(child, child);  // in parent and child, because either may run first
  pipe.close_write_end();
  fcntl(pipe.read_end, F_SETFL, O_NONBLOCK);

  Outcome outcome;
  const auto deadline = Clock::now() + limits.time;
  auto last_output = Clock::now();
  const auto stop = [&](Outcome::End why) {
    end_all(child, others);
    outcome.end = why;
  };
  bool open = true;
  while (!has_ended(child, outcome)) {
    pollfd wait = {open ? pipe.read_end : -1, POLLIN, 0};
    poll(&wait, 1, open ? 100 : 5);
    if (wait.revents > 0) {
      open = drain(pipe.read_end, outcome.output);
      last_output = Clock::now();
    }
    if (ending_signal) {
      end_all(child, others);
      throw Interrupted{ending_signal};
    }
    if (limits.output_bytes && outcome.output.size() > limits.output_bytes) {
      stop(Outcome::End::kTooMuchOutput);
      return outcome;
    }
    if ((limits.time.count() && Clock::now() > deadline) ||
        (limits.silence.count() && Clock::now() > last_output + limits.silence)) {
      stop(Outcome::End::kTooLong);
      return outcome;
    }
  }
  end_all(child, others);  // children that it left running
  for (std::size_t before = SIZE_MAX; open && outcome.output.size() != before;) {
    before = outcome.output.size();
    open = drain(pipe.read_end, outcome.output);
  }
  if (outcome.end == Outcome::End::kSignal && outcome.code == SIGXCPU) outcome.end = Outcome::End::kTooLong;
  return outcome;
}

void end_by(const Interrupted& interrupted) {
  signal(interrupted.signal, SIG_DFL);
  raise(interrupted.signal);
  _exit(kMachineLacks);  // the signal is blocked
}

pid_t start_program(const std::vector<std::string>& words, std::chrono::seconds time) {
  require_whole_program(words[0]);
  std::vector<std::string> own = words;
  const std::vector<char*> argv = argv_of(own);
  fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw MachineError(fmt::format("{} does not start: {}", words[0], strerror(errno)));
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  alarm(static_cast<unsigned>(time.count()));
  execute(argv.data());
  dprintf(STDERR_FILENO, "workbook: %s does not start: %s\n", argv[0], strerror(errno));
  _exit(kMachineLacks);
}

int status_of_program(pid_t child, const std::string& name) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (WTERMSIG(status) == SIGPIPE) end_by({SIGPIPE});
  if (WTERMSIG(status) == SIGALRM) {
    say("{}", complaint("workbook", too_long_text(name)));
    return kWrong;
  }
  say("workbook: {} was ended by signal {}\n", name, WTERMSIG(status));
  return kWrong;
}

int run_readers_program(const std::vector<std::string>& words, const std::string& file,
                        const std::function<void()>& started) {
  const auto deadline = Clock::now() + time_limit(kUsualTime);
  Pipe done;
  fcntl(done.write_end, F_SETFD, 0);
  setenv(kDoneVariable, std::to_string(done.write_end).c_str(), /*overwrite=*/1);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::set<pid_t> others = children();
  const pid_t child = start_program(words);
  unsetenv(kDoneVariable);
  const EndingSignals signals;
  done.close_write_end();
  started();

  Outcome outcome;
  std::string said;
  bool open = true;
  while (!has_ended(child, outcome)) {
    pollfd wait = {open ? done.read_end : -1, POLLIN, 0};
    poll(&wait, 1, open ? 100 : 5);
    if (wait.revents) open = drain(done.read_end, said) && said.empty();
    if (ending_signal) {
      end_all(child, others);
      throw Interrupted{ending_signal};
    }
    if (Clock::now() > deadline) {
      end_all(child, others);
      say("{}", complaint("play", too_long_text(file)));
      return kWrong;
    }
  }
  end_all(child, others);  // children that it left running
  if (said.empty()) drain(done.read_end, said);
  if (outcome.end == Outcome::End::kSignal && outcome.code == SIGPIPE) end_by({SIGPIPE});
  if (outcome.end != Outcome::End::kSignal && !said.empty()) return outcome.code;
  const std::string how =
      outcome.end == Outcome::End::kSignal
          ? fmt::format("{} was ended by signal {} ({})", printable(file), outcome.code,
                        strsignal(outcome.code))
          : fmt::format("The program ended itself with exit status {}: does {} call _exit?", outcome.code,
                        printable(file));
  say("{}", wrapped(how, 0));
  return kWrong;
}

int run_program(const std::vector<std::string>& words) {
  return status_of_program(start_program(words, time_limit(kUsualTime)), words[0]);
}

}  // namespace workbook
