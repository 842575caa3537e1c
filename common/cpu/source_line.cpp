#include "cpu/source_line.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cpu/function_name.hpp"
#include "cpu/symbols.hpp"

namespace cpu {
namespace {

std::string program_path() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length < 0 ? std::string() : std::string(path, static_cast<std::size_t>(length));
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// The chain of inlined functions at `address`, innermost first.
std::vector<SourceLine> frames_at(std::uintptr_t address) {
  const std::string command = fmt::format("addr2line -Cfi -e {} {:#x} 2>/dev/null",
                                          shell_quoted(program_path()), address - load_base());
  std::vector<SourceLine> frames;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return frames;
  char function[4096], place[4096];
  while (fgets(function, sizeof function, pipe) && fgets(place, sizeof place, pipe)) {
    const std::string file(place);
    const auto colon = file.rfind(':');
    SourceLine frame;
    frame.function = workbook::short_function_name(function);
    if (colon != std::string::npos && file[0] != '?') {
      frame.file = file.substr(0, colon);
      frame.line = atoi(file.c_str() + colon + 1);
    }
    frames.push_back(frame);
  }
  pclose(pipe);
  return frames;
}

}  // namespace

const SourceLine& source_line(std::uintptr_t return_address) {
  static std::mutex mutex;  // blocks may run on several cores
  static std::unordered_map<std::uintptr_t, SourceLine> known;
  {
    const std::lock_guard lock(mutex);
    const auto found = known.find(return_address);
    if (found != known.end()) return found->second;
  }
  SourceLine place;
  for (const SourceLine& frame : frames_at(return_address - 1)) {
    place = frame;
    if (frame.file.find("common/cpu/") == std::string::npos) break;
  }
  const std::lock_guard lock(mutex);
  return known.try_emplace(return_address, place).first->second;
}

bool same_line(std::uintptr_t return_address, std::uintptr_t other) {
  if (return_address == other) return true;
  const SourceLine &one = source_line(return_address), &two = source_line(other);
  return one.line == two.line && one.file == two.file;
}

SourceLine function_at(const void* address) {
  const auto frames = frames_at(reinterpret_cast<std::uintptr_t>(address));
  return frames.empty() ? SourceLine() : frames.back();
}

}  // namespace cpu
