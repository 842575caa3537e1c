#include "result_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "harness/errors.hpp"
#include "harness/files.hpp"

namespace workbook {

namespace fs = std::filesystem;

ResultFile::ResultFile(const fs::path& folder) : folder_(folder / fmt::format("result-{}", getpid())) {
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
