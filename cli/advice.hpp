/// \file
/// Advice on what to write instead, after compiler errors that are frequent in kernel files and programs.
#pragma once

#include <string>

namespace workbook {

/// Advice on a compiler's output, a paragraph for each mistake that it shows; empty for others.
/// In a program, which has a main of its own, the functions of the CUDA runtime are there.
std::string advice_on(const std::string& errors, bool in_program = false);

}  // namespace workbook
