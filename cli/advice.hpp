/// \file
/// Advice on what to write instead, after compiler errors that are frequent in kernel files.
#pragma once

#include <string>

namespace workbook {

/// Advice on a compiler's output, a paragraph for each mistake that it shows; empty for others.
std::string advice_on(const std::string& errors);

}  // namespace workbook
