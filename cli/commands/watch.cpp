#include "commands/watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <tuple>

#include "commands/hints_and_solutions.hpp"
#include "commands/overview.hpp"
#include "system/errors.hpp"
#include "system/process.hpp"
#include "system/terminal.hpp"

namespace workbook {
namespace {

constexpr int kSettleMs = 100;   // an editor may write a file in several steps
constexpr int kPollMs = 500;     // for file systems that do not report changes: network and WSL mounts
constexpr char kEndOfInput = 4;  // Ctrl-D

/// While it lives, keys arrive one by one and are not echoed.
class KeyMode {
 public:
  KeyMode() {
    tcgetattr(STDIN_FILENO, &before_);
    set();
  }
  ~KeyMode() { restore(); }
  void set() const {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  void restore() const { tcsetattr(STDIN_FILENO, TCSANOW, &before_); }
  KeyMode(const KeyMode&) = delete;
  KeyMode& operator=(const KeyMode&) = delete;

 private:
  termios before_;
};

/// Ctrl-C and similar signals end the watch as q does, so that the terminal's settings are restored. Ctrl-Z
/// restores them, too, until `fg`.
volatile sig_atomic_t interrupted = 0, suspended = 0;
void interrupt(int) { interrupted = 1; }
void suspend(int) { suspended = 1; }
void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = interrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  action.sa_handler = suspend;
  sigaction(SIGTSTP, &action, nullptr);
}

/// Reports changes in a folder, on file systems that support it.
class FolderChanges {
 public:
  explicit FolderChanges(const std::filesystem::path& folder)
      : descriptor_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    inotify_add_watch(descriptor_, folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE);
  }
  ~FolderChanges() { close(descriptor_); }
  FolderChanges(const FolderChanges&) = delete;
  FolderChanges& operator=(const FolderChanges&) = delete;

  int descriptor() const { return descriptor_; }
  void forget() const {
    char events[4096];
    while (read(descriptor_, events, sizeof events) > 0) {
    }
  }

 private:
  int descriptor_;
};

/// The difference between two versions of a file; all 0 where there is no file.
using Signature = std::tuple<ino_t, off_t, time_t, long>;
Signature signature(const std::filesystem::path& file) {
  struct stat found = {};
  if (stat(file.c_str(), &found) != 0) return {};
  return {found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

/// The signature, once it has not changed for kSettleMs.
Signature settled_signature(const std::filesystem::path& file) {
  for (Signature before = signature(file);;) {
    poll(nullptr, 0, kSettleMs);
    const Signature now = signature(file);
    if (now == before || interrupted) return now;
    before = now;
  }
}

void show_keys() {
  fmt::print("\n[h]int  [n]ext  [l]ist  [q]uit    checked again at each save\n");
  fflush(stdout);
}

void answer(const Workbook& workbook, const ExerciseFiles& exercise, char key) {
  if (key == 'h') hint_command(workbook, exercise.id(), /*all=*/false);
  if (key == 'l') {
    list_command(workbook, /*json=*/false);
    // The list is longer than many terminals are high.
    fmt::print("\n{}  {}  {}\n", bold("Here:"), exercise.id(), workbook.shown(exercise.file));
  }
  show_keys();
}

/// The next exercise: after a solved one the first that is not solved, otherwise the one that follows.
const ExerciseFiles& next_of(const Workbook& workbook, const ExerciseFiles& exercise) {
  const ExerciseFiles* open = workbook.next_open();
  if (open && workbook.is_solved(exercise)) return *open;
  const std::size_t after = static_cast<std::size_t>(&exercise - workbook.exercises.data()) + 1;
  return workbook.exercises[after % workbook.exercises.size()];
}

/// The check of one exercise as a program of its own, so that keys and signals are answered while it builds
/// and judges. The destructor ends it and what it has started.
class RunningCheck {
 public:
  explicit RunningCheck(const ExerciseFiles& exercise)
      : checked_(settled_signature(exercise.file)), program_(0) {
    if (interrupted) return;
    if (takes_escapes(STDOUT_FILENO)) fmt::print("\033[H\033[2J");  // from the top of an empty screen
    program_ = start_program({"/proc/self/exe", "check", exercise.id()});
  }
  ~RunningCheck() {
    if (!program_) return;
    kill(program_, SIGTERM);
    kill(program_, SIGCONT);  // in case Ctrl-Z has stopped it
    waitpid(program_, nullptr, 0);
  }
  RunningCheck(const RunningCheck&) = delete;
  RunningCheck& operator=(const RunningCheck&) = delete;

  /// Whether it has ended since the last call.
  bool has_just_ended() {
    if (!program_ || waitpid(program_, nullptr, WNOHANG) != program_) return false;
    program_ = 0;
    return true;
  }
  bool runs() const { return program_ != 0; }
  /// The file's state when the check began.
  const Signature& checked() const { return checked_; }

 private:
  Signature checked_;
  pid_t program_;
};

/// Waits for a key or a change, at most `most_ms`. Returns the key, or 0 when there was none.
char wait_for_key(const FolderChanges& changes, int most_ms) {
  pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {changes.descriptor(), POLLIN, 0}};
  if (poll(sources, 2, most_ms) <= 0) return 0;
  changes.forget();
  char key = 0;
  if (sources[0].revents && read(STDIN_FILENO, &key, 1) <= 0) return 'q';  // the terminal has gone
  return key == kEndOfInput ? 'q' : key;
}

void stop_until_continued(const KeyMode& keys) {
  suspended = 0;
  keys.restore();
  raise(SIGSTOP);
  keys.set();
}

enum class Next { kEnd, kCheckAgain, kOtherExercise };

/// Checks one exercise, and answers keys until it is to be checked again or left.
Next watch_once(const Workbook& workbook, const ExerciseFiles& exercise, const KeyMode& keys) {
  const FolderChanges changes(exercise.file.parent_path());
  RunningCheck check(exercise);
  std::string waiting;  // keys that are answered after the check, whose output they would break up
  while (!interrupted) {
    if (suspended) stop_until_continued(keys);
    if (check.has_just_ended()) show_keys();
    const char key = wait_for_key(changes, check.runs() ? kSettleMs : kPollMs);
    if (key == 'q') return Next::kEnd;
    if (key == 'n') return Next::kOtherExercise;
    if (key == 'h' || key == 'l') waiting += key;
    if (check.runs()) continue;
    for (const char one : waiting) answer(workbook, exercise, one);
    waiting.clear();
    if (signature(exercise.file) != check.checked()) return Next::kCheckAgain;
  }
  return Next::kEnd;
}

}  // namespace

ExitStatus watch_command(const Workbook& workbook, const std::string& name) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
    throw UsageError("watch takes keys from a terminal, and this is none; `check` checks once");
  const ExerciseFiles* exercise = &workbook.exercise(name);
  const KeyMode keys;
  catch_signals();
  for (;;) {
    const Next next = watch_once(workbook, *exercise, keys);
    if (next == Next::kEnd) return kDone;
    if (next == Next::kOtherExercise) exercise = &next_of(workbook, *exercise);
  }
}

}  // namespace workbook
