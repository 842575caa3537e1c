/// \file
/// The one place where files are opened to be read. Needs nothing but the system, since the launcher compiles
/// it by itself (common/system/build_inputs_main.cpp).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace workbook {

/// More than any source, page or result has.
constexpr std::size_t kMostFileBytes = std::size_t{16} << 20;

/// The text of a file, or why there is none.
struct FileContent {
  std::string text;
  std::string problem;  ///< why it cannot be read, "No such file or directory"; empty where it was read
};

/// Reads a regular file of at most `most` bytes, through links. Anything else is not read: a pipe may never
/// answer, and a device may never end.
FileContent read_file(const std::filesystem::path& path, std::size_t most = kMostFileBytes);
/// The first `bytes` bytes of a regular file, or all of a shorter one.
FileContent read_beginning(const std::filesystem::path& path, std::size_t bytes);

}  // namespace workbook
