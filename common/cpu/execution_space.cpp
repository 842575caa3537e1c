#include "cpu/execution_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cpu/debug_info.hpp"
#include "cpu/declarations.hpp"
#include "cpu/finding.hpp"
#include "cpu/source_line.hpp"

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

/// What the sources say about the functions of one program.
class Judge {
 public:
  explicit Judge(const std::vector<std::string>& files) {
    for (const std::string& file : files)
      if (is_users(file)) files_.push_back(file);
  }

  /// The specifiers in all declarations of the function together; nothing that is not sure.
  Specifiers specifiers(const SourceFunction& function) const {
    Specifiers all;
    if (function.is_implicit || function.places.empty()) return all;
    all.is_known = true;
    for (const SourcePlace& place : function.places) {
      if (!is_users(place.file)) return {};
      const SourceText& text = source_text(place.file);
      const Specifiers found = function.is_lambda ? text.lambda_specifiers(place.line)
                                                  : text.specifiers(function.name, place.line);
      if (!found.is_known) return {};
      all.device |= found.device;
      all.global |= found.global;
      all.is_constexpr |= found.is_constexpr;
    }
    // nvcc takes the specifiers of all declarations together, and debug information knows only the last one.
    if (!all.device && !all.global && !function.is_member &&
        std::any_of(files_.begin(), files_.end(),
                    [&](const std::string& file) { return source_text(file).marks(function.name); }))
      return {};
    return all;
  }

  /// Whether the GPU has no code of the function for sure.
  bool lacks_device(const SourceFunction& function) const {
    const Specifiers found = specifiers(function);
    if (!found.is_known || found.device || found.global) return false;
    // A lambda is compiled for what the function around it is compiled for.
    return !function.is_lambda || (function.enclosing && lacks_device(*function.enclosing));
  }

 private:
  std::vector<std::string> files_;
};

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
  const Judge judge(compiled->files);
  const SourceLine place = function_at(kernel);
  const Specifiers own = judge.specifiers(compiled->function);
  if (own.is_known && !own.global)
    return Mistake{"kernel without __global__",
                   fmt::format("  {} is launched and has no __global__, so a GPU cannot launch it",
                               compiled->function.name),
                   "a kernel is declared as __global__ void"};
  std::vector<SourceFunction> missing;
  for (const SourceFunction& callee : compiled->callees)
    if (judge.lacks_device(callee)) missing.push_back(callee);
  if (missing.empty()) return std::nullopt;
  std::sort(missing.begin(), missing.end(), [](const SourceFunction& a, const SourceFunction& b) {
    return a.places.back().line < b.places.back().line;
  });
  std::string details;
  for (const SourceFunction& function : missing) {
    const std::string line = "  " + sentence(function, judge.specifiers(function).is_constexpr, place);
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
