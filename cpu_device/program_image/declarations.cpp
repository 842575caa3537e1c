#include "cpu_device/program_image/declarations.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "cpu_device/program_image/source_line.hpp"

namespace cpu {
namespace {

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_identifier(const std::string& token) {
  return !token.empty() && is_letter(token[0]) && !std::isdigit(static_cast<unsigned char>(token[0]));
}

/// Words that may stand before the name in a declaration and are no type.
const std::set<std::string> kSpecifiers = {
    "const",      "consteval",    "constexpr",    "constinit",  "explicit", "extern",       "friend",
    "inline",     "mutable",      "register",     "static",     "struct",   "thread_local", "typename",
    "virtual",    "volatile",     "__device__",   "__global__", "__host__", "__inline__",   "__forceinline__",
    "__restrict", "__restrict__", "__noinline__", "class",      "enum",     "union",        "*",
    "&",          "__extension__"};
/// Words that have an argument in parentheses, and are no type either.
const std::set<std::string> kSpecifiersWithArgument = {"alignas", "__align__", "__attribute__",
                                                       "__launch_bounds__"};
const std::set<std::string> kBuiltInTypes = {"auto",     "bool",   "char",     "char8_t", "char16_t",
                                             "char32_t", "double", "float",    "int",     "long",
                                             "short",    "signed", "unsigned", "void",    "wchar_t"};
/// Words that begin a statement or an expression.
const std::set<std::string> kStatements = {
    "return", "case",      "else",     "do",       "goto",   "throw",    "new",
    "delete", "co_return", "co_yield", "co_await", "using",  "typedef",  "requires",
    "if",     "for",       "while",    "switch",   "sizeof", "operator", "template"};

/// The tokens of a name: "operator()" has three.
std::vector<std::string> tokens_of_name(const std::string& name) {
  if (!name.starts_with("operator") || (name.size() > 8 && is_letter(name[8]))) {
    if (name.starts_with('~')) return {"~", name.substr(1)};
    return {name};
  }
  std::vector<std::string> tokens = {"operator"};
  std::size_t at = name.find_first_not_of(' ', 8);
  if (at != std::string::npos && is_letter(name[at])) return {"operator", name.substr(at)};  // a conversion
  for (; at < name.size(); ++at) tokens.push_back(name.substr(at, 1));
  return tokens;
}

void add(Specifiers& specifiers, const std::string& token) {
  specifiers.global |= token == "__global__";
  specifiers.device |= token == "__device__";
  specifiers.is_constexpr |= token == "constexpr" || token == "consteval";
}

/// The index after a literal that begins with the quote at `at`.
std::size_t after_literal(const std::string& text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

/// The index after R"d(...)d", of which the quote is at `at`.
std::size_t after_raw_literal(const std::string& text, std::size_t at) {
  const std::size_t begin = text.find('(', at);
  if (begin == std::string::npos) return text.size();
  const std::string end = ")" + text.substr(at + 1, begin - at - 1) + "\"";
  const std::size_t found = text.find(end, begin);
  return found == std::string::npos ? text.size() : found + end.size();
}

}  // namespace

SourceText::SourceText(const std::string& file) { read_tokens(source_text(file)); }

/// Identifiers, numbers and literals are a token each, and so is every other character. Comments and
/// directives are none.
void SourceText::read_tokens(const std::string& text) {
  std::vector<bool> conditions;  // of the #ifs around: whether one asks which compiler this is
  int line = 1;
  bool line_is_empty = true;
  const auto advance = [&](std::size_t from, std::size_t to) {
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(from),
                                        text.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    return to;
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\n') {
      ++line, ++at;
      line_is_empty = true;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++at;
    } else if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.compare(at, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", at + 2);
      at = advance(at, end == std::string::npos ? text.size() : end + 2);
    } else if (c == '#' && line_is_empty) {
      std::size_t end = at;
      do end = std::min(text.find('\n', end + 1), text.size());
      while (end < text.size() && text[end - 1] == '\\');
      const std::string directive = text.substr(at, end - at);
      const std::size_t word = std::min(directive.find_first_not_of(" \t", 1), directive.size());
      if (directive.compare(word, 2, "if") == 0)
        conditions.push_back(directive.find("CUDA") != std::string::npos ||
                             directive.find("__clang__") != std::string::npos ||
                             directive.find("__GNUC__") != std::string::npos);
      else if (directive.compare(word, 5, "endif") == 0 && !conditions.empty())
        conditions.pop_back();
      else if (directive.compare(word, 6, "define") == 0) {
        std::size_t begin = std::min(directive.find_first_not_of(" \t", word + 6), directive.size());
        std::size_t after = begin;
        while (after < directive.size() && is_letter(directive[after])) ++after;
        macros_.insert(directive.substr(begin, after - begin));
      }
      if (directive.compare(word, 7, "include") == 0) {
        const std::size_t begin = directive.find('"'), last = directive.rfind('"');
        if (begin != last) included_.insert(directive.substr(begin + 1, last - begin - 1));
      }
      at = advance(at, end);
    } else {
      line_is_empty = false;
      std::size_t end = at + 1;
      if (is_letter(c)) {
        const bool is_number = std::isdigit(static_cast<unsigned char>(c));
        while (end < text.size() &&
               (is_letter(text[end]) || (is_number && (text[end] == '\'' || text[end] == '.'))))
          ++end;
      }
      if (end < text.size() && text[end] == '"' && text[end - 1] == 'R' && is_letter(c))
        end = after_raw_literal(text, end);
      else if (c == '"' || c == '\'')
        end = after_literal(text, at);
      tokens_.push_back({text.substr(at, end - at), line,
                         std::find(conditions.begin(), conditions.end(), true) != conditions.end()});
      at = advance(at, end);
    }
  }
}

/// The text of a token; empty past the last one.
const std::string& SourceText::text(std::size_t token) const {
  static const std::string none;
  return token < tokens_.size() ? tokens_[token].text : none;
}

/// The token after the group that the parenthesis, bracket or brace at `token` begins.
std::size_t SourceText::after_group(std::size_t token) const {
  int depth = 0;
  for (; token < tokens_.size(); ++token) {
    const std::string& t = text(token);
    depth += t == "(" || t == "[" || t == "{";
    depth -= t == ")" || t == "]" || t == "}";
    if (depth == 0) return token + 1;
  }
  return token;
}

/// The token after the template arguments that begin with the < at `token`.
std::size_t SourceText::after_arguments(std::size_t token) const {
  int depth = 0;
  while (token < tokens_.size()) {
    const std::string& t = text(token);
    if (t == ";" || t == "{" || t == "}") return tokens_.size();  // it was a comparison
    if (t == "(" || t == "[") {
      token = after_group(token);
      continue;
    }
    depth += t == "<";
    depth -= t == ">";
    ++token;
    if (depth == 0) return token;
  }
  return token;
}

/// The first token of the declaration whose name is at token `name`.
std::size_t SourceText::begin_of_declaration(std::size_t name) const {
  std::size_t begin = name;
  for (; begin > 0; --begin) {
    const std::string& before = text(begin - 1);
    if (before == ";" || before == "{" || before == "}") break;
    if (before == ":" && begin > 1 &&
        (text(begin - 2) == "public" || text(begin - 2) == "private" || text(begin - 2) == "protected"))
      break;
  }
  return begin;
}

bool SourceText::has_name(std::size_t token, const std::vector<std::string>& name) const {
  for (std::size_t i = 0; i < name.size(); ++i)
    if (text(token + i) != name[i]) return false;
  return text(token + name.size()) == "(";
}

bool SourceText::may_be_macro(const std::string& identifier) const {
  if (macros_.count(identifier)) return true;
  return identifier.size() > 1 && std::none_of(identifier.begin(), identifier.end(), [](char c) {
           return std::islower(static_cast<unsigned char>(c));
         });
}

/// Whether the tokens before the name are specifiers and at most one type: then none is a macro.
bool SourceText::is_plain(std::size_t begin, std::size_t name) const {
  int types = 0;
  bool is_built_in = false;
  for (std::size_t at = begin; at < name;) {
    const std::string& t = text(at);
    if (t == "template" && text(at + 1) == "<") {
      if (text(at + 2) == ">") return false;  // a specialisation may have the specifiers of its template
      at = after_arguments(at + 1);
    } else if (t == "[" && text(at + 1) == "[") {
      at = after_group(at);
    } else if (kSpecifiersWithArgument.count(t)) {
      at = text(at + 1) == "(" ? after_group(at + 1) : at + 1;
    } else if (kSpecifiers.count(t) || t[0] == '"') {  // "C" of extern
      ++at;
    } else if (kBuiltInTypes.count(t)) {
      is_built_in = true;
      ++at;
    } else if ((is_identifier(t) && !kStatements.count(t)) || (t == ":" && text(at + 1) == ":")) {
      // A type, or the class of the function: both may be several names with :: between.
      bool is_class = false;
      for (bool more = true; more && at < name;) {
        more = false;
        if (is_identifier(text(at))) {
          if (may_be_macro(text(at)) || kStatements.count(text(at))) return false;
          ++at;
        }
        if (text(at) == "<") at = after_arguments(at);
        if (text(at) == ":" && text(at + 1) == ":") {
          at += 2;
          is_class = at == name;
          more = true;
        }
      }
      if (text(at) == "(" && at < name) return false;
      types += !is_class;
    } else {
      return false;
    }
    if (at > name) return false;
  }
  return types + is_built_in <= 1;
}

/// The specifiers of the declaration whose name begins at token `name` and has `name_tokens` tokens.
Specifiers SourceText::specifiers_at(std::size_t name, std::size_t name_tokens) const {
  Specifiers found;
  const std::size_t begin = begin_of_declaration(name);
  for (std::size_t at = begin; at < name; ++at) add(found, text(at));
  bool has_body = false;
  for (std::size_t at = after_group(name + name_tokens); at < tokens_.size(); ++at) {
    const std::string& t = text(at);
    add(found, t);
    if (t == "(") at = after_group(at) - 1;
    has_body = t == "{" || t == ";" || (t == ":" && text(at + 1) != ":" && text(at - 1) != ":");
    if (has_body || t == "}" || t == "=" || t == "," || t == ")") break;
  }
  found.is_known = found.device || found.global ||
                   (has_body && !tokens_[name].depends_on_compiler && is_plain(begin, name));
  return found;
}

Specifiers SourceText::specifiers(const std::string& function, int line) const {
  const std::vector<std::string> name = tokens_of_name(function);
  Specifiers first;
  bool is_first = true;
  for (std::size_t at = 0; at < tokens_.size(); ++at) {
    if (tokens_[at].line != line || !has_name(at, name)) continue;
    const Specifiers found = specifiers_at(at, name.size());
    if (found.device || found.global) return found;
    if (is_first) first = found;
    is_first = false;
  }
  return first;
}

Specifiers SourceText::lambda_specifiers(int line) const {
  Specifiers found;
  bool is_known = true;
  int lambdas = 0;
  for (std::size_t begin = 0; begin < tokens_.size(); ++begin) {
    if (tokens_[begin].line != line || text(begin) != "[") continue;
    const std::string before = begin ? text(begin - 1) : "";
    if ((is_identifier(before) && !kStatements.count(before)) || before == ")" || before == "]" ||
        before == "[" || text(begin + 1) == "[")
      continue;  // an index, or an attribute
    ++lambdas;
    is_known &= !tokens_[begin].depends_on_compiler;
    std::size_t at = after_group(begin);
    if (text(at) == "<") at = after_arguments(at);
    bool before_parameters = true;
    for (; at < tokens_.size() && text(at) != "{"; ++at) {
      const std::string& t = text(at);
      add(found, t);
      const bool is_specifier = kSpecifiers.count(t) || kSpecifiersWithArgument.count(t);
      if (is_identifier(t) && (may_be_macro(t) || (before_parameters && !is_specifier))) is_known = false;
      if (t == ";" || t == "}") is_known = false;
      if (t == "(") {
        at = after_group(at) - 1;
        before_parameters = false;
      }
    }
  }
  found.is_known = found.device || found.global || (is_known && lambdas > 0);
  return found;
}

bool SourceText::marks(const std::string& function) const {
  const std::vector<std::string> name = tokens_of_name(function);
  for (std::size_t at = 0; at < tokens_.size(); ++at) {
    if (!has_name(at, name)) continue;
    for (std::size_t before = begin_of_declaration(at); before < at; ++before)
      if (text(before) == "__device__" || text(before) == "__global__") return true;
  }
  return false;
}

}  // namespace cpu
