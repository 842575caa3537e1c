#include "judge/source_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include "judge/specifiers.hpp"

namespace workbook {
std::string code_of(const std::string& text) {
  std::string code = text;
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, code.size()); ++i)
      if (code[i] != '\n') code[i] = ' ';
  };
  bool in_directive = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t begin = at;
    if (text[at] == '\n') in_directive = false;
    if (text[at] == '#') in_directive = true;
    if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size()) - 1;
      blank(begin, at + 1);
    } else if (text.compare(at, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string::npos ? text.size() : end + 1;
      blank(begin, at + 1);
    } else if (text[at] == '"' || (text[at] == '\'' && (at == 0 || !std::isalnum(text[at - 1])))) {
      for (++at; at < text.size() && text[at] != text[begin] && text[at] != '\n'; ++at)
        if (text[at] == '\\') ++at;
      if (!in_directive) blank(begin + 1, at);
    }
  }
  return code;
}

namespace {

/// The names, numbers and other characters of a line.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  bool in_name = false;
  for (const char c : line) {
    const bool name = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (name && in_name)
      words.back() += c;
    else if (!std::isspace(static_cast<unsigned char>(c)))
      words.emplace_back(1, c);
    in_name = name;
  }
  return words;
}

constexpr std::string_view kHeaders =
    "a file that is judged includes device.hpp, the headers of common/kernels, and those of CUDA and C++";

/// Why a file may not include what the rest of the line names; empty when it may. A plain name is that of a
/// header for kernels; a path leads to the workbook's own files, and a .cuh is a solution or a stage.
std::string refused_include(const std::string& line) {
  const std::size_t begin = line.find_first_of("\"<");
  const std::size_t end = begin == std::string::npos ? begin : line.find_first_of("\">", begin + 1);
  if (end == std::string::npos) return "";
  const std::string name = line.substr(begin + 1, end - begin - 1);
  const bool quoted = line[begin] == '"';
  const bool is_other =
      quoted && (name.find('/') != std::string::npos || name.ends_with(".cuh") || name.ends_with(".cu"));
  const bool is_ours = name.starts_with("cpu_device/") || name.starts_with("harness/") ||
                       name.starts_with("judge/") || name.starts_with("/") ||
                       name.find("..") != std::string::npos;
  return is_other || is_ours ? fmt::format("{} is included: {}", name, kHeaders) : "";
}

bool holds(std::initializer_list<std::string_view> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Why one line of code is refused; empty when it is not.
std::string refused_line(const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  const auto word = [&](std::size_t i) { return i < words.size() ? words[i] : std::string(); };
  if (word(0) == "#" && word(1) == "include") return refused_include(line);
  if (word(0) == "#" && holds({"define", "undef"}, word(1)) &&
      holds({"DEVICE", "__global__", "__device__", "__host__", "__shared__", "launch"}, word(2)))
    return fmt::format("{} is defined anew: that name belongs to the workbook", word(2));
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("no_sanitize") || words[i] == "disable_sanitizer_instrumentation")
      return fmt::format("{} would hide accesses from the CPU device", words[i]);
    const bool is_named = word(i + 1) == ":" && word(i + 2) == ":";
    if (words[i] == "cpu" && (is_named || (i > 0 && words[i - 1] == "namespace")))
      return "cpu is named: kernels are in namespace DEVICE, which is another one on a GPU";
  }
  return "";
}

}  // namespace

std::string refusal(const std::string& text) {
  const std::string code = code_of(text);
  std::istringstream lines(code);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string why = refused_line(line);
    if (!why.empty()) return fmt::format("line {}: {}", number, why);
  }
  return missing_specifier(code);
}

}  // namespace workbook
