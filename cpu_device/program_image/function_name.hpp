/// \file
/// Names of functions as a reader knows them.
#pragma once

#include <string>

namespace workbook {

/// "void cpu::multiply_add::fused<4>(float const*, int)" -> "fused"; mangled names are demangled
/// first, and unnamed namespaces left out.
std::string short_function_name(const std::string& name);
/// The same with the template arguments, without namespaces: "fused<4>". It tells the kernels of one template
/// apart.
std::string short_instance_name(const std::string& name);

}  // namespace workbook
