/// \file
/// The errors that end a program with one line for the reader.
#pragma once

#include <stdexcept>

namespace workbook {

/// The command line names something that does not exist or is not allowed. The message says what was wrong
/// and what is accepted.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The machine or the workbook itself lacks something that is needed: memory, a GPU, a file.
struct MachineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A kernel has stopped the device for good: this process can run nothing more on it.
struct DeviceLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The message for an exception of the reader's host code that is none of C++'s own.
constexpr const char* kStrangeException =
    "the host code throws something that is no std::exception, so it has no message";

}  // namespace workbook
