/// \file
/// A file for what a child process writes.
#pragma once

#include <filesystem>
#include <string>

namespace workbook {

/// A file for what a child process writes, in a folder of its own inside `folder`. The destructor removes
/// that folder, and with it whatever a child that was killed has left half written.
class ResultFile {
 public:
  /// \throws MachineError when nothing can be written there
  explicit ResultFile(const std::filesystem::path& folder);
  ~ResultFile() { remove(); }
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  std::string path() const { return (folder_ / "result.json").string(); }
  /// Finds out whether a child can write its result. \throws MachineError when it cannot
  void require_space() const;
  /// The child's output; empty when it wrote nothing.
  std::string text() const;

 private:
  void remove() const;

  std::filesystem::path folder_;
};

}  // namespace workbook
