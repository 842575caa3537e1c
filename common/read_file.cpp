#include "read_file.hpp"

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

FileContent read_descriptor(int file, std::size_t most) {
  struct stat status = {};
  if (fstat(file, &status) != 0) return {"", std::strerror(errno)};
  if (!S_ISREG(status.st_mode)) return {"", std::string("it is ") + kind_of(status.st_mode) + ", not a file"};
  const std::string too_large = "it has more than " + std::to_string(most >> 20) + " MiB, which is the most";
  if (static_cast<std::size_t>(status.st_size) > most) return {"", too_large};
  // Into memory of its own: a thread of the CPU device, which asks for a source line, has a small stack.
  std::string text(static_cast<std::size_t>(std::max<off_t>(status.st_size, kLeastBytes)) + 1, '\0');
  std::size_t used = 0;
  for (;;) {
    const ssize_t size = read(file, text.data() + used, text.size() - used);
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

}  // namespace

FileContent read_file(const std::filesystem::path& path, std::size_t most) {
  // O_NONBLOCK: opening a pipe waits for its other end.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) {
    struct stat status = {};  // a socket cannot be opened
    const int error = errno;
    if (error == ENXIO && stat(path.c_str(), &status) == 0)
      return {"", std::string("it is ") + kind_of(status.st_mode) + ", not a file"};
    return {"", std::strerror(error)};
  }
  FileContent content = read_descriptor(file, most);
  close(file);
  return content;
}

}  // namespace workbook
