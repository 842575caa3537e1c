#include "result_file.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <vector>

#include "system/errors.hpp"
#include "system/files.hpp"

namespace workbook {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "result-";

/// Removes what programs have left that were killed.
void remove_left(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> left;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const pid_t owner = std::atoi(name.c_str() + kPrefix.size());
    if (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH) left.push_back(entry->path());
  }
  for (const fs::path& each : left) fs::remove_all(each, error);
}

}  // namespace

ResultFile::ResultFile(const fs::path& folder) : folder_(folder / fmt::format("{}{}", kPrefix, getpid())) {
  remove_left(folder);
  remove();
  require_space();
}

void ResultFile::require_space() const {
  constexpr std::size_t kMostBytes = 64 << 10;  // of a result
  const fs::path trial = folder_ / "trial";
  std::error_code error;
  fs::create_directories(folder_, error);
  try {
    replace_file(trial, std::string(kMostBytes, ' '));
  } catch (const MachineError&) {
    remove();
    throw;
  }
  fs::remove(trial, error);
}

std::string ResultFile::text() const { return file_exists(path()) ? file_text(path()) : ""; }

void ResultFile::remove() const {
  std::error_code error;
  fs::remove_all(folder_, error);
}

}  // namespace workbook
