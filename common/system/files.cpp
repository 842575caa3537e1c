#include "system/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "system/errors.hpp"

namespace workbook {
namespace {

namespace fs = std::filesystem;

MachineError cannot_be_written(const fs::path& path, int error) {
  return MachineError(fmt::format("{} cannot be written ({})", path.string(), strerror(error)));
}

/// The file that `path` leads to, through symbolic links.
fs::path target_of(const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

}  // namespace

bool file_exists(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::status_known(status))
    throw MachineError(fmt::format("{} cannot be read ({})", path.string(), error.message()));
  return fs::exists(status);
}

std::optional<std::string> make_folder(const fs::path& path) {
  std::error_code error, unknown;
  fs::create_directories(path, error);
  if (fs::is_directory(path, unknown)) return std::nullopt;
  return error ? error.message() : "it is not a folder";
}

std::string file_text(const fs::path& path, std::size_t most) {
  FileContent content = read_file(path, most);
  if (!content.problem.empty())
    throw MachineError(fmt::format("{} cannot be read ({})", path.string(), content.problem));
  return std::move(content.text);
}

std::string encoding_fault(const fs::path& path, const std::string& name) {
  const std::string text = file_text(path);
  if (!text.starts_with("\xff\xfe") && !text.starts_with("\xfe\xff")) return "";
  return fmt::format("{} is not UTF-8 text (it begins with a UTF-16 byte order mark): save it as UTF-8.",
                     name);
}

OutputFile::OutputFile(const fs::path& path)
    : path_(target_of(path)), partial_(fmt::format("{}.{}.partial", path_.string(), getpid())) {
  std::error_code error;
  if (const fs::file_status status = fs::status(path_, error);
      fs::exists(status) && !fs::is_regular_file(status))
    throw MachineError(fmt::format("{} cannot be written (it is not a regular file)", path.string()));
  stream_.open(partial_);
  if (!stream_) throw cannot_be_written(path, errno);
}

OutputFile::~OutputFile() {
  std::error_code error;
  if (!partial_.empty()) fs::remove(partial_, error);
}

void OutputFile::finish(const std::string& content) {
  stream_ << content;
  stream_.close();
  if (!stream_) throw cannot_be_written(path_, errno);
  std::error_code error;
  fs::rename(partial_, path_, error);
  if (error) throw cannot_be_written(path_, error.value());
  partial_.clear();
}

void flush_standard_output() {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return;
  throw MachineError(fmt::format("standard output cannot be written{}",
                                 errno ? fmt::format(" ({})", strerror(errno)) : std::string()));
}

void replace_file(const fs::path& path, const std::string& content) { OutputFile(path).finish(content); }

void update_file(const std::filesystem::path& path, const std::string& content) {
  if (!file_exists(path) || file_text(path) != content) replace_file(path, content);
}

}  // namespace workbook
