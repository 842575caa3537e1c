/// \file
/// Looks for functions that nvcc would not compile for a GPU. Here, without nvcc, they would run all the
/// same.
#pragma once

#include <string>

namespace workbook {

/// One sentence on the first function of a file that lacks __global__ or __device__ for sure, such as "line
/// 21: phase is called by a kernel and has no __device__, without which nvcc does not compile it for a GPU";
/// empty where there is none. `code` is what code_of() returns. It goes by names, so it says nothing about
/// constexpr functions, constructors, lambdas, macros, and calls of other files' functions.
std::string missing_specifier(const std::string& code);

}  // namespace workbook
