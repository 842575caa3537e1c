/// \file
/// Inline PTX: the instructions that have a counterpart on the CPU device, as C++.
#pragma once

#include <string>
#include <string_view>

namespace workbook {

/// What an asm statement becomes: C++ statements in which operand %0 is `o0`, or the first instruction that
/// is not known.
struct PtxStatements {
  std::string code;
  std::string unknown;  ///< empty where `code` is everything
};

/// Translates the text of an asm statement, without quotation marks, that has that many operands.
/// play/program/ptx.hpp has what the C++ calls.
PtxStatements ptx_statements(std::string_view text, int operands);

}  // namespace workbook
