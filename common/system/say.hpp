/// \file
/// Words on standard error.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace workbook {

/// Formats as fmt::print does and writes to standard error. Where that is closed or full, nothing happens: a
/// program's status does not depend on whether its words arrive.
template <class... T>
void say(fmt::format_string<T...> format, T&&... values) {
  const std::string text = fmt::format(format, std::forward<T>(values)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace workbook
