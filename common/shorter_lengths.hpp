/// \file
/// Lengths for exercises whose elements take long to judge.
#pragma once
#include <array>

#include "exercise.hpp"

namespace workbook {

/// kHostileLengths, but for a last prime that is less than a third as long: its remainders by 1024, 5 and 3
/// are the same, and it is larger than the number of threads that are resident on an H100.
constexpr auto kShorterLengths = [] {
  auto lengths = std::to_array(kHostileLengths);
  lengths.back() = {{278063, 1, 1}};
  return lengths;
}();

}  // namespace workbook
