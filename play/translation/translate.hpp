/// \file
/// Translation of a CUDA file with its own `main` to C++ for the CPU device.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace workbook {

/// Names whose initial value, a number, is to be replaced: {"B", "2"} turns `int B = 8` to `int B = 2`.
class Constants {
 public:
  explicit Constants(std::map<std::string, std::string> values) : values_(std::move(values)) {}
  /// The new value of a name; null where there is none.
  const std::string* value(std::string_view name) const {
    const auto found = values_.find(std::string(name));
    return found == values_.end() ? nullptr : &found->second;
  }
  void note_used(std::string_view name) { used_.emplace(name); }
  /// \throws UsageError for a constant that no translation has used
  void require_all_used() const;

 private:
  std::map<std::string, std::string> values_;
  std::set<std::string> used_;
};

/// The C++ for the text of a CUDA file behind the preprocessor, which knew play/program/program.hpp.
/// Only what comes from the user's files, and from the CUDA Toolkit's curand_*.h, is changed, not what comes
/// from the system's headers. Every line stays where it was, so that messages name the user's lines.
///
/// - CUDA's keywords become attributes, and `threadIdx` and its like function calls, the latter in functions
///   with __global__ or __device__ alone, since host code may have variables of these names.
/// - Behind the first declaration of a kernel stands a function that starts it, with the kernel's parameters
///   behind the configuration: so arguments are converted, deduced and overloaded as in a call. A launch
///   calls it; one by a pointer to a kernel goes through program::by_pointer().
/// - An array `extern __shared__` is a pointer to the block's dynamic shared memory.
/// - Functions of host code are marked as not traced, so that they are as fast as elsewhere.
/// - cudaMalloc() gets the name of the variable that receives the address.
///
/// `constants` get their new values. \throws UsageError with the user's line where something cannot be
/// translated
std::string translated(std::string_view preprocessed, Constants& constants);

}  // namespace workbook
