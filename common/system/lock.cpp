#include "system/lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "system/errors.hpp"
#include "system/say.hpp"

namespace workbook {

Lock::Lock(const std::filesystem::path& file)
    : descriptor_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0)
    throw MachineError(fmt::format("{} cannot be written ({})", file.string(), strerror(errno)));
  constexpr int kAttempts = 20, kPauseMs = 10;  // the state is locked for less than that
  for (int i = 0; i < kAttempts; ++i) {
    if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    poll(nullptr, 0, kPauseMs);
  }
  say("workbook: another ./workbook is at work here; waiting for it ...\n");
  while (flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

Lock::~Lock() { close(descriptor_); }

}  // namespace workbook
