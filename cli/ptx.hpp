/// \file
/// The few statements of inline PTX that have a counterpart in CUDA C++.
#pragma once

#include <string>
#include <string_view>

namespace workbook {

/// What `asm("mov.u32 %0, %%laneid;" : "=r"(x))` assigns to x, given the text with its quotation marks; empty
/// where it is something else.
std::string ptx_register(std::string_view text);
/// The call that stands for a statement without operands, such as `membar.gl;`; empty where there is none.
std::string ptx_call(std::string_view text);

}  // namespace workbook
