#include "judge/specifiers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <vector>

namespace workbook {
namespace {

/// A function as a file declares or defines it.
struct Function {
  std::string name, head, body;
  std::size_t at;  ///< of its name
  bool is_member;

  bool has(const char* word) const { return head.find(word) != std::string::npos; }
  bool is_marked() const { return has("__device__") || has("__global__"); }
  /// By constexpr, by one of the file's macros or another one, or in a way that cannot be seen from the name.
  bool may_be_marked(const std::string& macros) const {
    static const std::regex plain(R"(\w+|operator\(\))");
    return std::regex_search(head, std::regex(R"(\b(?:constexpr|[A-Z_]{2,})" + macros + R"()\b)")) ||
           !std::regex_match(name, plain);
  }
};

/// The code without directives, without what stands in parentheses before a function's name, and with one
/// blank for several: std::regex takes a stack frame for each character that a repetition matches.
std::string without_noise(const std::string& text) {
  static const std::regex noise(
      R"(\b(?:__launch_bounds__|__attribute__|alignas|decltype|requires)\s*(?:\([^()]*\)|\(\([^()]*\)\)))");
  std::istringstream lines(text);
  std::string code;
  bool in_directive = false;
  for (std::string line; std::getline(lines, line); code += '\n') {
    in_directive |= line.find_first_not_of(" \t") == line.find('#') && line.find('#') != std::string::npos;
    for (std::size_t at = 0; !in_directive && at < line.size(); ++at)
      if (!std::isblank(static_cast<unsigned char>(line[at])))
        code += line[at];
      else if (!code.ends_with(' '))
        code += ' ';
    in_directive &= line.ends_with('\\');
  }
  const std::string all = code;
  for (std::sregex_iterator one(all.begin(), all.end(), noise), end; one != end; ++one)
    std::replace_if(
        code.begin() + one->position(), code.begin() + one->position() + one->length(),
        [](char c) { return c != '\n'; }, ' ');
  return code;
}

/// Where the block ends whose brace is at `begin`.
std::size_t end_of_block(const std::string& code, std::size_t begin) {
  int depth = 0;
  for (std::size_t at = begin; at < code.size(); ++at)
    if (depth += (code[at] == '{') - (code[at] == '}'); depth == 0) return at;
  return code.size();
}

/// The functions of namespaces and structures.
std::vector<Function> functions_of(const std::string& code) {
  static const std::regex scope(R"(\b(namespace|struct|class|union|extern)\b)");
  static const std::regex function(R"((operator\s*(?:\(\s*\)|[^\s\w(]+)|[~\w]+)\s*\()");
  std::vector<Function> found;
  std::vector<bool> in_structure = {false};
  std::size_t begin = 0;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const char c = code[at];
    if (c != '{' && c != '}' && c != ';') continue;
    const std::string head = code.substr(begin, at - begin);
    const std::string tail = head.substr(head.find_last_of("()=") + 1);
    std::smatch match;
    if (c == '}') {
      if (in_structure.size() > 1) in_structure.pop_back();
    } else if (c == '{' && std::regex_search(tail, match, scope)) {
      in_structure.push_back(match[1] == "struct" || match[1] == "class" || match[1] == "union");
    } else {
      const std::size_t end = c == '{' ? end_of_block(code, at) : at;
      if (std::regex_search(head, match, function) && match.prefix().str().find('=') == std::string::npos)
        found.push_back({std::regex_replace(match.str(1), std::regex(R"(\s)"), ""), head,
                         code.substr(at, end - at), begin + static_cast<std::size_t>(match.position(1)),
                         in_structure.back()});
      at = end;
    }
    begin = at + 1;
  }
  return found;
}

/// Whether the body of a function calls a name, as a member or not.
bool calls(const Function& caller, const Function& callee) {
  if (callee.name == "operator()") return true;  // of which object cannot be seen
  const std::string before = callee.is_member ? R"((?:\.|->|::)\s*)" : R"((?:^|[^\w.>:]|[^-]>)\s*)";
  return std::regex_search(caller.body, std::regex(before + callee.name + R"((?:<[\w\s,:]*>)?\s*\()"));
}

std::string sentence(const std::string& code, const Function& function, const std::string& lacks) {
  const auto at = code.begin() + static_cast<std::ptrdiff_t>(function.at);
  return fmt::format("line {}: {} {}, without which nvcc does not compile it for a GPU",
                     1 + std::count(code.begin(), at, '\n'), function.name, lacks);
}

}  // namespace

std::string missing_specifier(const std::string& text) {
  const std::string code = without_noise(text);
  const std::vector<Function> functions = functions_of(code);
  // Whether one of the functions of that name is marked: the compiler would choose that one.
  const auto is_marked = [&](const std::string& name, const char* specifier) {
    return std::any_of(functions.begin(), functions.end(),
                       [&](const Function& one) { return one.name == name && one.has(specifier); });
  };
  static const std::regex launched(R"(\blaunch(?:_shared)?\s*\(\s*(\w+)\s*[,<])");
  for (std::sregex_iterator one(code.begin(), code.end(), launched), end; one != end; ++one)
    for (const Function& function : functions)
      if (function.name == one->str(1) && !is_marked(function.name, "__global__"))
        return sentence(code, function, "is launched and has no __global__");
  std::string macros;
  static const std::regex definition(R"(#\s*define\s+(\w+))");
  for (std::sregex_iterator one(text.begin(), text.end(), definition), end; one != end; ++one)
    macros += "|" + one->str(1);
  for (const Function& callee : functions) {
    if (callee.is_marked() || callee.may_be_marked(macros)) continue;
    if (callee.name != "operator()" && is_marked(callee.name, "__device__")) continue;
    for (const Function& caller : functions)
      if (caller.is_marked() && calls(caller, callee))
        return sentence(code, callee, "is called by a kernel and has no __device__");
  }
  return "";
}

}  // namespace workbook
