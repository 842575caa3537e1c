#include "cpu_device/program_image/function_name.hpp"

#include <cxxabi.h>
#include <stdlib.h>

#include <memory>
#include <regex>

namespace workbook {
namespace {

/// The name, demangled if it is mangled, without unnamed namespaces.
std::string full_name(const std::string& name) {
  const std::unique_ptr<char, decltype(&free)> demangled(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr), &free);
  std::string full = demangled ? demangled.get() : name;
  const std::string unnamed = "(anonymous namespace)::";
  for (auto at = full.find(unnamed); at != std::string::npos; at = full.find(unnamed))
    full.erase(at, unnamed.size());
  return full;
}

/// The template arguments in a full name, "<float, 4>"; empty where there are none.
std::string template_arguments(const std::string& full) {
  const std::size_t begin = full.find_first_of("(<\n");
  if (begin == std::string::npos || full[begin] != '<') return "";
  int angles = 0, parentheses = 0;  // that are open; in parentheses, > is an operator
  for (std::size_t end = begin; end < full.size(); ++end) {
    const char c = full[end];
    parentheses += (c == '(') - (c == ')');
    if (parentheses == 0) angles += (c == '<') - (c == '>');
    if (angles == 0) return full.substr(begin, end + 1 - begin);
  }
  return "";
}

}  // namespace

std::string short_function_name(const std::string& name) {
  const std::string full = full_name(name);
  const std::string qualified = full.substr(0, full.find_first_of("(<\n"));
  const std::size_t before = qualified.find_last_of(" :");
  return before == std::string::npos ? qualified : qualified.substr(before + 1);
}

std::string short_instance_name(const std::string& name) {
  // Never destroyed, as what source_line.cpp knows.
  static const auto &qualifier = *new std::regex("[A-Za-z_][A-Za-z_0-9]*::"),
                    &suffix = *new std::regex("\\b([0-9]+)[ul]+\\b");
  const std::string arguments = std::regex_replace(template_arguments(full_name(name)), qualifier, "");
  return short_function_name(name) + std::regex_replace(arguments, suffix, "$1");
}

}  // namespace workbook
