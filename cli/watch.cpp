#include "watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <tuple>

#include "check.hpp"
#include "harness/errors.hpp"
#include "overview.hpp"
#include "study.hpp"

namespace workbook {
namespace {

constexpr int kSettleMs = 100;  // an editor may write a file in several steps
constexpr int kPollMs = 500;    // for file systems that do not report changes: network and WSL mounts

/// While it lives, keys arrive one by one and are not echoed.
class KeyMode {
 public:
  KeyMode() {
    tcgetattr(STDIN_FILENO, &before_);
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  ~KeyMode() { tcsetattr(STDIN_FILENO, TCSANOW, &before_); }
  KeyMode(const KeyMode&) = delete;
  KeyMode& operator=(const KeyMode&) = delete;

 private:
  termios before_;
};

/// Ctrl-C and similar signals end the watch as q does, so that the terminal's settings are restored.
volatile sig_atomic_t interrupted = 0;
void interrupt(int) { interrupted = 1; }
void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = interrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
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

/// What differs between two versions of a file; all 0 where there is no file.
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

/// Checks the file as it is now. Returns the signature of what was checked.
Signature check_now(const Workbook& workbook, const ExerciseFiles& exercise) {
  const Signature checked = settled_signature(exercise.file);
  if (interrupted) return checked;
  fmt::print("\033[H\033[2J");  // from the top of an empty screen
  check_command(workbook, exercise.id());
  return checked;
}

void show_keys() {
  fmt::print("\n[h]int  [n]ext  [l]ist  [q]uit    checked again at each save\n");
  fflush(stdout);
}

/// The next exercise: after a solved one the first that is not solved, otherwise the one that follows.
const ExerciseFiles& next_of(const Workbook& workbook, const ExerciseFiles& exercise) {
  const ExerciseFiles* open = workbook.next_open();
  if (open && workbook.is_solved(exercise)) return *open;
  const std::size_t after = static_cast<std::size_t>(&exercise - workbook.exercises.data()) + 1;
  return workbook.exercises[after % workbook.exercises.size()];
}

/// Waits for a key or a change, at most kPollMs. Returns the key, or 0 when there was none.
char wait_for_key(const FolderChanges& changes) {
  pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {changes.descriptor(), POLLIN, 0}};
  if (poll(sources, 2, kPollMs) <= 0) return 0;
  changes.forget();
  char key = 0;
  if (sources[0].revents && read(STDIN_FILENO, &key, 1) <= 0) key = 'q';  // the terminal has gone
  return key;
}

}  // namespace

ExitStatus watch_command(const Workbook& workbook, const std::string& name) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
    throw UsageError("watch takes keys from a terminal, and this is none; `check` checks once");
  const ExerciseFiles* exercise = &workbook.exercise(name);
  const KeyMode keys;
  catch_signals();
  while (!interrupted) {
    const FolderChanges changes(exercise->file.parent_path());
    Signature checked = check_now(workbook, *exercise);
    show_keys();
    const ExerciseFiles* const watched = exercise;
    while (!interrupted && exercise == watched) {
      const char key = wait_for_key(changes);
      if (key == 'q') return kDone;
      if (key == 'n') exercise = &next_of(workbook, *exercise);
      if (key == 'h') hint_command(workbook, exercise->id(), /*all=*/false);
      if (key == 'l') list_command(workbook, /*json=*/false);
      if (key == 'h' || key == 'l') show_keys();
      if (signature(exercise->file) == checked || exercise != watched) continue;
      checked = check_now(workbook, *exercise);
      show_keys();
    }
  }
  return kDone;
}

}  // namespace workbook
