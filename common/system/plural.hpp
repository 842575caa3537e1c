/// \file
/// Counts in messages.
#pragma once

#include <fmt/format.h>

#include <string>

namespace workbook {

/// "1 element", "2 elements"; the noun's plural has an s.
template <class Integer>
std::string plural(Integer count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace workbook
