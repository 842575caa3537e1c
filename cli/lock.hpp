/// \file
/// One program at a time.
#pragma once

#include <filesystem>

namespace workbook {

/// Holds a lock on a file while it lives; waits until it is free. The system lets go of it when the program
/// dies.
class Lock {
 public:
  /// \throws MachineError when the file cannot be made
  explicit Lock(const std::filesystem::path& file);
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

}  // namespace workbook
