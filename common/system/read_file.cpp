#include "system/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace workbook {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

constexpr off_t kLeastBytes = 4095;

/// The file where it is a regular one, else why not.
struct OpenFile {
  int number = -1;
  off_t bytes = 0;
  std::string problem;
  ~OpenFile() {
    if (number >= 0) close(number);
  }
};

OpenFile open_regular(const std::filesystem::path& path) {
  struct stat status = {};
  const auto other = [&] { return std::string("it is ") + kind_of(status.st_mode) + ", not a file"; };
  // O_NONBLOCK: opening a pipe waits for its other end.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) {
    const int error = errno;
    const bool is_socket = error == ENXIO && stat(path.c_str(), &status) == 0;  // which cannot be opened
    return {-1, 0, is_socket ? other() : std::strerror(error)};
  }
  if (fstat(file, &status) != 0) return {file, 0, std::strerror(errno)};
  return {file, status.st_size, S_ISREG(status.st_mode) ? "" : other()};
}

}  // namespace

FileContent read_file(const std::filesystem::path& path, std::size_t most) {
  const OpenFile file = open_regular(path);
  if (!file.problem.empty()) return {"", file.problem};
  const std::string too_large = "it has more than " + std::to_string(most >> 20) + " MiB, which is the most";
  if (static_cast<std::size_t>(file.bytes) > most) return {"", too_large};
  // Into memory of its own: a thread of the CPU device, which asks for a source line, has a small stack.
  std::string text(static_cast<std::size_t>(std::max<off_t>(file.bytes, kLeastBytes)) + 1, '\0');
  std::size_t used = 0;
  for (;;) {
    const ssize_t size = read(file.number, text.data() + used, text.size() - used);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return {"", std::strerror(errno)};
    if (size == 0) break;
    used += static_cast<std::size_t>(size);
    if (used > most) return {"", too_large};
    if (used == text.size()) text.resize(2 * used);  // files of /proc do not say their size
  }
  text.resize(used);
  return {std::move(text), ""};
}

FileContent read_beginning(const std::filesystem::path& path, std::size_t bytes) {
  const OpenFile file = open_regular(path);
  if (!file.problem.empty()) return {"", file.problem};
  std::string text(bytes, '\0');
  const ssize_t size = pread(file.number, text.data(), bytes, 0);
  if (size < 0) return {"", std::strerror(errno)};
  text.resize(static_cast<std::size_t>(size));
  return {std::move(text), ""};
}

}  // namespace workbook
