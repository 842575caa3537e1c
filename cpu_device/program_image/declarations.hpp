/// \file
/// What source files say where they declare a function: which of CUDA's execution space specifiers
/// (__global__, __device__, __host__) stand there. To the host compiler these are empty macros, so only the
/// text of the sources has them.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace cpu {

/// The specifiers of a declaration.
struct Specifiers {
  bool is_known = false;  ///< the declaration could be read; where it could not, the others say nothing
  bool global = false, device = false;
  bool is_constexpr = false;
};

/// A source file, for questions about its declarations. It is no C++ parser: it reads the plain form of a
/// declaration, and does not know one in which a macro may hide a specifier.
class SourceText {
 public:
  /// An empty file where there is no such file.
  explicit SourceText(const std::string& file);

  /// The specifiers of the function that line `line` declares or defines.
  Specifiers specifiers(const std::string& function, int line) const;
  /// Those of the lambda that begins in line `line`; if several begin there, all of theirs.
  Specifiers lambda_specifiers(int line) const;
  /// Whether any declaration of a function with that name has __device__ or __global__.
  bool marks(const std::string& function) const;
  /// The files that it includes in quotes, as written there.
  const std::set<std::string>& included() const { return included_; }

 private:
  struct Token {
    std::string text;
    int line;
    bool depends_on_compiler;  ///< it stands in an #if that asks which compiler this is
  };
  void read_tokens(const std::string& text);
  const std::string& text(std::size_t token) const;
  std::size_t after_group(std::size_t token) const;
  std::size_t after_arguments(std::size_t token) const;
  std::size_t begin_of_declaration(std::size_t name) const;
  bool has_name(std::size_t token, const std::vector<std::string>& name) const;
  bool may_be_macro(const std::string& identifier) const;
  bool is_plain(std::size_t begin, std::size_t name) const;
  Specifiers specifiers_at(std::size_t name, std::size_t name_tokens) const;

  std::vector<Token> tokens_;
  std::set<std::string> macros_;  ///< that the file defines
  std::set<std::string> included_;
};

}  // namespace cpu
