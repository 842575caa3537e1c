/// \file
/// The tokens of a C++ file behind the preprocessor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace workbook {

enum class TokenKind : unsigned char { kBlank, kWord, kNumber, kText, kSymbol };

/// A token, or what stands between two.
struct Token {
  TokenKind kind = TokenKind::kBlank;  ///< kBlank: white space, and lines that begin with #
  std::string_view text;
  bool user = false;  ///< from a file that is not a system header, or from one with functions of the device
  int line = 0;
  const std::string* file = nullptr;
};

/// Splits the output of the preprocessor. Tokens point into it.
std::vector<Token> tokens_of(std::string_view preprocessed);

}  // namespace workbook
