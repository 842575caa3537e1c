#include "read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace workbook {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

FileContent read_descriptor(int file, std::size_t most) {
  struct stat status = {};
  if (fstat(file, &status) != 0) return {"", std::strerror(errno)};
  if (!S_ISREG(status.st_mode)) return {"", std::string("it is ") + kind_of(status.st_mode) + ", not a file"};
  FileContent content;
  char buffer[1 << 16];
  for (ssize_t size; (size = read(file, buffer, sizeof buffer)) != 0;) {
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return {"", std::strerror(errno)};
    content.text.append(buffer, static_cast<std::size_t>(size));
    if (content.text.size() > most)
      return {"", "it has more than " + std::to_string(most >> 20) + " MiB, which is the most"};
  }
  return content;
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
