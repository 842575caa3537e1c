#include "cpu_device/program_image/source_line.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <unordered_map>
#include <vector>

#include "cpu_device/program_image/addr2line.hpp"
#include "cpu_device/program_image/function_name.hpp"
#include "cpu_device/program_image/symbols.hpp"
#include "system/read_file.hpp"

namespace cpu {
namespace {

// What is known already is never destroyed: a destructor after main may call CUDA, and be told where.
std::mutex mutex;  // of that: blocks may run on several cores

std::string program_path() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length < 0 ? std::string() : std::string(path, static_cast<std::size_t>(length));
}

/// The chain of inlined functions at `address`, innermost first.
const std::vector<SourceLine>& frames_at(std::uintptr_t address) {
  static auto& known = *new std::unordered_map<std::uintptr_t, std::vector<SourceLine>>;
  const auto [found, is_new] = known.try_emplace(address);
  std::vector<SourceLine>& frames = found->second;
  if (!is_new) return frames;
  for (const Frame& found_frame : frames_at_offset(address - load_base())) {
    const std::string& place = found_frame.place;
    SourceLine frame;
    frame.function = workbook::short_function_name(found_frame.function);
    frame.instance = workbook::short_instance_name(found_frame.function);
    if (const auto colon = place.rfind(':'); colon != std::string::npos && place[0] != '?') {
      frame.file = tidy_name(place.substr(0, colon));
      frame.line = atoi(place.c_str() + colon + 1);
    }
    frames.push_back(frame);
  }
  return frames;
}

}  // namespace

std::string tidy_name(const std::string& name) {
  std::string tidy = std::filesystem::path(name).lexically_normal().string();
  while (tidy.starts_with("../")) tidy.erase(0, 3);
  return tidy;
}

bool is_kernel_file(const std::string& file) {
  const std::string name = tidy_name(file);
  return !name.starts_with("cpu_device/") && !name.starts_with("play/program/") &&
         !name.starts_with("play/headers/") && name.find("/include/c++/") == std::string::npos;
}

std::string source_text(const std::string& name) {
  workbook::FileContent file = workbook::read_file(name);
  const std::filesystem::path program = program_path();
  for (auto folder = program.parent_path(); !file.problem.empty() && folder != folder.parent_path();
       folder = folder.parent_path())
    file =
        workbook::read_file(folder / std::filesystem::path(name).relative_path());  // "/x" is the build's x
  return file.text;
}

namespace {

/// Whether a line declares or calls the function: has its name, and after that a parenthesis.
bool declares(const std::string& line, const std::string& function) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (auto at = line.find(function); at != std::string::npos; at = line.find(function, at + 1)) {
    if (at > 0 && is_part(line[at - 1])) continue;
    const auto next = line.find_first_not_of(' ', at + function.size());
    if (next != std::string::npos && line[next] == '(') return true;
  }
  return false;
}

/// The line of a function's name. Compilers give the line where its body begins; the declaration may have
/// begun lines before. Where the name is not found, that line.
int line_of_name(const SourceLine& body) {
  constexpr int kMostLines = 40;  // of a declaration
  std::istringstream file(source_text(body.file));
  std::string line;
  int found = body.line;
  for (int number = 1; number <= body.line && std::getline(file, line); ++number)
    if (number > body.line - kMostLines && declares(line, body.function)) found = number;
  return found;
}

/// The innermost frame at `address` that is not part of the CPU device or of C++'s own headers.
SourceLine line_at(std::uintptr_t address) {
  SourceLine line;
  for (const SourceLine& frame : frames_at(address)) {
    line = frame;
    if (is_kernel_file(frame.file)) break;
  }
  if (line.function == "program_main") line.function = line.instance = "main";  // of a program
  return line;
}

}  // namespace

const SourceLine& source_line(std::uintptr_t return_address) {
  static auto& known = *new std::unordered_map<std::uintptr_t, SourceLine>;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace(return_address);
  if (!is_new) return found->second;
  found->second = line_at(return_address - 1);
  // clang gives no line to what it has merged from several: a line of the instructions before it is near.
  constexpr std::uintptr_t kMostBytes = 64;
  for (std::uintptr_t bytes = 2; found->second.line == 0 && bytes < kMostBytes; ++bytes) {
    const SourceLine before = line_at(return_address - bytes);
    if (before.line != 0 && before.function == found->second.function) {
      found->second = before;
      found->second.is_near = true;
    }
  }
  return found->second;
}

bool same_line(std::uintptr_t return_address, std::uintptr_t other) {
  if (return_address == other) return true;
  const SourceLine &one = source_line(return_address), &two = source_line(other);
  return one.line == two.line && one.file == two.file;
}

const SourceLine& function_at(const void* address) {
  static auto& known = *new std::unordered_map<const void*, SourceLine>;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace(address);
  if (!is_new) return found->second;
  const auto& frames = frames_at(reinterpret_cast<std::uintptr_t>(address));
  if (!frames.empty()) found->second = frames.back();
  found->second.line = line_of_name(found->second);
  return found->second;
}

}  // namespace cpu
