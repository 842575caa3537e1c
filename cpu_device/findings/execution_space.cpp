#include "cpu_device/findings/execution_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cpu_device/findings/finding.hpp"
#include "cpu_device/program_image/debug_info.hpp"
#include "cpu_device/program_image/declarations.hpp"
#include "cpu_device/program_image/source_line.hpp"

namespace cpu {
namespace {

/// Whether a file is neither the workbook's own nor the system's. In doubt it is one of them.
bool is_users(const std::string& file) {
  return !file.empty() && ("/" + file).find("/common/") == std::string::npos && !file.starts_with("/usr/") &&
         !file.starts_with("/opt/") && file.find("/include/") == std::string::npos;
}

const SourceText& source_text(const std::string& file) {
  static std::map<std::string, SourceText> known;
  return known.try_emplace(file, file).first->second;
}

/// Whether a function of that name has a mark in the same file or in one that it includes.
bool is_marked_elsewhere(const SourceFunction& function) {
  std::set<std::string> seen;
  std::vector<std::string> open;
  for (const SourcePlace& place : function.places) open.push_back(place.file);
  while (!open.empty()) {
    const std::string file = open.back();
    open.pop_back();
    if (!seen.insert(file).second) continue;
    const SourceText& text = source_text(file);
    if (text.marks(function.name)) return true;
    const auto folder = std::filesystem::path(file).parent_path();
    for (const std::string& included : text.included())
      open.push_back((folder / included).lexically_normal().string());
  }
  return false;
}

/// The specifiers in all declarations of the function together; nothing that is not sure.
Specifiers specifiers(const SourceFunction& function) {
  Specifiers all;
  if (function.is_implicit || function.places.empty()) return all;
  all.is_known = true;
  for (const SourcePlace& place : function.places) {
    if (!is_users(place.file)) return {};
    const SourceText& text = source_text(place.file);
    const Specifiers found =
        function.is_lambda ? text.lambda_specifiers(place.line) : text.specifiers(function.name, place.line);
    if (!found.is_known) return {};
    all.device |= found.device;
    all.global |= found.global;
    all.is_constexpr |= found.is_constexpr;
  }
  // nvcc takes the specifiers of all declarations together, and debug information knows only the last one.
  if (!all.device && !all.global && !function.is_member && is_marked_elsewhere(function)) return {};
  return all;
}

/// Whether the GPU has no code of the function for sure.
bool lacks_device(const SourceFunction& function) {
  const Specifiers found = specifiers(function);
  if (!found.is_known || found.device || found.global) return false;
  // A lambda is compiled for what the function around it is compiled for.
  return !function.is_lambda || (function.enclosing && lacks_device(*function.enclosing));
}

std::string line_text(const SourcePlace& place, const SourceLine& kernel) {
  return place.file == kernel.file ? fmt::format("line {}", place.line)
                                   : fmt::format("{}:{}", place.file, place.line);
}

std::string sentence(const SourceFunction& function, bool is_constexpr, const SourceLine& kernel) {
  const std::string place = line_text(function.places.back(), kernel);
  if (function.is_lambda)
    return fmt::format("the lambda that begins in {} is called by this kernel and has no __device__", place);
  return fmt::format("{} ({}) is called by this kernel and has no __device__{}", function.name, place,
                     is_constexpr ? ", which a constexpr function needs too" : "");
}

std::optional<Mistake> mistake_of(const void* kernel) {
  const auto compiled = compiled_function(kernel);
  if (!compiled) return std::nullopt;
  const Specifiers own = specifiers(compiled->function);
  if (own.is_known && !own.global)
    return Mistake{"kernel without __global__",
                   fmt::format("  {} is launched and has no __global__, so a GPU cannot launch it",
                               compiled->function.name),
                   "a kernel is declared as __global__ void"};
  std::vector<SourceFunction> missing;
  for (const SourceFunction& callee : compiled->callees)
    if (lacks_device(callee)) missing.push_back(callee);
  if (missing.empty()) return std::nullopt;
  const SourceLine place = function_at(kernel);
  std::sort(missing.begin(), missing.end(), [](const SourceFunction& a, const SourceFunction& b) {
    return a.places.back().line < b.places.back().line;
  });
  std::string details;
  for (const SourceFunction& function : missing) {
    const std::string line = "  " + sentence(function, specifiers(function).is_constexpr, place);
    if (details.find(line) == std::string::npos) details += (details.empty() ? "" : "\n") + line;
  }
  return Mistake{
      "function without __device__", details,
      "nvcc compiles only functions with __device__ for the GPU, so it rejects a call of any other: "
      "where does __device__ belong?"};
}

}  // namespace

void check_execution_space(const void* kernel) {
  static std::map<const void*, std::optional<Mistake>> known;
  const auto found = known.find(kernel);
  const auto& mistake = found != known.end() ? found->second : (known[kernel] = mistake_of(kernel));
  if (mistake) throw finding_in(kernel, *mistake);
}

}  // namespace cpu
