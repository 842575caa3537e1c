/// \file
/// Where an instruction of a kernel is in the sources.
#pragma once

#include <cstdint>
#include <string>

namespace cpu {

struct SourceLine {
  std::string function;  ///< without namespaces and parameters; empty when unknown
  std::string instance;  ///< the same with its template arguments
  std::string file;      ///< relative to the project; empty when unknown
  int line = 0;
  bool is_near = false;  ///< the instruction stands for several lines, and this one is near them
};

/// A file's name in the debug information without "..": "chapters/06/x.hpp" for "chapters/05/../06/x.hpp".
/// Names that begin with ".." are relative to the build's folder, as compiler caches make them:
/// "../common/x.hpp" is "common/x.hpp" of the project.
std::string tidy_name(const std::string& name);

/// Whether a file is neither part of the CPU device nor one of C++'s own headers.
bool is_kernel_file(const std::string& file);

/// The source line of the instruction before `return_address`: of a chain of inlined functions the innermost
/// frame in a kernel file, or the outermost where there is none.
const SourceLine& source_line(std::uintptr_t return_address);

/// Whether two instructions are in the same source line: the compiler may have made several of one call.
bool same_line(std::uintptr_t return_address, std::uintptr_t other);

/// Name of the function that starts at `address`, and the line where its definition has the name.
const SourceLine& function_at(const void* address);

/// A source file by its name in the debug information, which is relative to the project: a folder above the
/// program's. Empty where the sources are not there.
std::string source_text(const std::string& name);

}  // namespace cpu
