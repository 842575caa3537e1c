/// \file
/// A lock that only one program holds at a time.
#pragma once

#include <filesystem>

namespace workbook {

/// Holds a lock on a file from construction to destruction. The system releases it if the program dies.
class Lock {
 public:
  /// Waits until no other program holds the lock, and says so where that takes longer than a moment.
  /// \throws MachineError when the file cannot be created
  explicit Lock(const std::filesystem::path& file);
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

}  // namespace workbook
