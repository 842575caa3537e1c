/// \file
/// The parts of a function of the program, read from its debug information: the functions that the compiler
/// has inlined into it, those that it calls, and where the sources declare them.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace cpu {

/// A line of a source file.
struct SourcePlace {
  std::string file;  ///< relative to the project; absolute where it is not part of it
  int line;
};

/// A function of the sources. All instances of a template are different functions.
struct SourceFunction {
  std::string name;                 ///< without namespaces and template arguments: "gelu", "operator()"
  std::vector<SourcePlace> places;  ///< of its declaration, its definition, or both in this order; of a
                                    ///< lambda, where it begins
  bool is_lambda = false;           ///< the function that a lambda calls
  bool is_member = false;           ///< of a class
  bool is_implicit = false;         ///< the compiler has declared it
  std::shared_ptr<SourceFunction> enclosing;  ///< of a lambda: the function that it stands in, where known
};

struct CompiledFunction {
  SourceFunction function;
  std::vector<SourceFunction> callees;  ///< inlined or called, by it or by those; each once
};

/// The function whose code begins at `address`; nothing where the program has no DWARF 4 of it.
std::unique_ptr<CompiledFunction> compiled_function(const void* address);

}  // namespace cpu
