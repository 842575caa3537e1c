#include "cpu/function_name.hpp"

#include <cxxabi.h>
#include <stdlib.h>

#include <memory>

namespace workbook {

std::string short_function_name(const std::string& name) {
  const std::unique_ptr<char, decltype(&free)> demangled(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr), &free);
  std::string full = demangled ? demangled.get() : name;
  const std::string unnamed = "(anonymous namespace)::";
  for (auto at = full.find(unnamed); at != std::string::npos; at = full.find(unnamed))
    full.erase(at, unnamed.size());
  const std::string qualified = full.substr(0, full.find_first_of("(<\n"));
  const std::size_t before = qualified.find_last_of(" :");
  return before == std::string::npos ? qualified : qualified.substr(before + 1);
}

}  // namespace workbook
