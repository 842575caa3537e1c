/// \file
/// The meaning of a compiler's output: advice on errors that are frequent in kernel files and programs, and
/// whose fault they are.
#pragma once

#include <string>

namespace workbook {

/// Advice on a compiler's output, a paragraph for each mistake that it shows; empty for others.
/// In a program, which has a main of its own, the functions of the CUDA runtime are there.
std::string advice_on(const std::string& errors, bool in_program = false);

/// The lack of a compiler on this machine, by its output: memory, room on the disk. Empty where that shows
/// no such thing.
std::string lack_in(const std::string& errors);

/// Whether the compiler or the linker lacked nothing and names a place in a source, or ran out of memory
/// though there was enough, as for an `#include` without end. Otherwise it is not known to have run.
bool names_place(const std::string& errors);

}  // namespace workbook
