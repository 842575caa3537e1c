#include "cpu_device/program_image/addr2line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>

namespace cpu {
namespace {

/// A running addr2line. It ends when its input does, at the latest with this program.
class Addr2line {
 public:
  /// The process that it was started by: a child of that one needs its own.
  pid_t owner() const { return owner_; }

  void start() {
    if (answers_) fclose(answers_);
    answers_ = nullptr;
    owner_ = getpid();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    if (spawn(ends[1])) answers_ = fdopen(ends[0], "r");
    close(ends[1]);
    if (!answers_) close(ends[0]);
  }

  std::vector<Frame> ask(std::uintptr_t offset) {
    // The answer has any number of frames. That to the second question, address 0, shows where it ends.
    const std::string question = fmt::format("{:#x}\n0\n", offset);
    if (!answers_ || send(fileno(answers_), question.data(), question.size(), MSG_NOSIGNAL) < 0) return {};
    std::vector<Frame> frames;
    read_line();  // repeats the address
    for (std::string line = read_line(); !line.empty() && !line.starts_with("0x"); line = read_line())
      frames.push_back({line, read_line()});
    read_line(), read_line();  // unknown function, unknown place
    return frames;
  }

 private:
  /// Returns whether addr2line runs, with its input and output at `end` of a socket.
  bool spawn(int end) {
    // Not by the program's path, where a newer one may be by now.
    std::string file = fmt::format("/proc/{}/exe", owner_), name = "addr2line", options = "-aCfie";
    char* const words[] = {name.data(), options.data(), file.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, end, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t process;
    const bool runs = posix_spawnp(&process, name.c_str(), &actions, nullptr, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return runs;
  }

  /// Empty at the end, where addr2line was ended.
  std::string read_line() {
    std::string line;
    for (int c = fgetc(answers_); c != EOF && c != '\n'; c = fgetc(answers_)) line += static_cast<char>(c);
    return line;
  }

  pid_t owner_ = 0;
  FILE* answers_ = nullptr;
};

}  // namespace

std::vector<Frame> frames_at_offset(std::uintptr_t offset) {
  static auto& addr2line = *new Addr2line;  // never destroyed, as what source_line.cpp knows
  if (addr2line.owner() != getpid()) addr2line.start();
  return addr2line.ask(offset);
}

}  // namespace cpu
