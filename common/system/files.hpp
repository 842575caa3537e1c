/// \file
/// Reading a file, and replacing one atomically.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "system/read_file.hpp"

namespace workbook {

/// Whether there is a file or folder of that name. \throws MachineError where that cannot be known
bool file_exists(const std::filesystem::path& path);

/// Makes the folder, if it is not there. Returns what prevents that; nothing when it is there.
std::optional<std::string> make_folder(const std::filesystem::path& path);

/// The whole of a file, by read_file(). \throws MachineError when it cannot be read
std::string file_text(const std::filesystem::path& path, std::size_t most = kMostFileBytes);

/// Why no compiler can read a source file, in a sentence that calls it `name`; empty where nothing is known.
/// \throws MachineError when it cannot be read
std::string encoding_fault(const std::filesystem::path& path, const std::string& name);

/// A file that gets its name only when it is complete, so that nobody reads half of it. It is written under
/// another name in the same folder, which is removed if finish() is never called.
class OutputFile {
 public:
  /// Opens the file for writing. A symbolic link is kept, and the file that it points to is replaced.
  /// \throws MachineError when it cannot be opened, or is no regular file: not even root's device is replaced
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Writes `content` and gives the file its name. Call it once. \throws MachineError when that fails
  void finish(const std::string& content);

 private:
  std::filesystem::path path_, partial_;
  std::ofstream stream_;
};

/// Writes out what has been printed. \throws MachineError where standard output takes no more
void flush_standard_output();

/// Replaces a file, whole or not at all. \throws MachineError when it cannot be written
void replace_file(const std::filesystem::path& path, const std::string& content);
/// The same, unless the file has that content. \throws MachineError
void update_file(const std::filesystem::path& path, const std::string& content);

}  // namespace workbook
