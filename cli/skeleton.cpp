#include "skeleton.hpp"

#include <fmt/format.h>

#include <sstream>

#include "system/errors.hpp"

namespace workbook {
namespace {

enum class Part { kShared, kSolution, kSkeleton };

std::string without_indentation(const std::string& line) {
  const auto begin = line.find_first_not_of(' ');
  return begin == std::string::npos ? "" : line.substr(begin);
}

/// "  // x" -> "  x", "//" -> "", where `slashes` begins a comment: "//", in Python "#".
std::string uncommented(const std::string& line, const std::string& slashes) {
  const auto begin = line.find(slashes);
  if (begin == std::string::npos || begin != line.find_first_not_of(' '))
    throw MachineError(
        fmt::format("a solution lacks {} END SOLUTION, or its skeleton has a line that is no comment: \"{}\"",
                    slashes, line));
  const auto end = begin + slashes.size();
  if (end == line.size()) return "";
  return line.substr(0, begin) + line.substr(end + (line[end] == ' ' ? 1 : 0));
}

/// What begins a comment in the solution.
std::string slashes_of(const std::string& solution) {
  return solution.find("# BEGIN SOLUTION") == std::string::npos ? "//" : "#";
}

/// The lines of the shared parts and of `wanted`. Lines of the skeleton lose their slashes.
std::string only(Part wanted, const std::string& solution) {
  std::istringstream lines(solution);
  std::string out;
  Part part = Part::kShared;
  int regions = 0;
  const auto pass = [&](Part from, Part to, const char* marker) {
    if (part != from) throw MachineError(fmt::format("a solution's markers are not in order at {}", marker));
    part = to;
  };
  const std::string slashes = slashes_of(solution);
  for (std::string line; std::getline(lines, line);) {
    const std::string word = without_indentation(line);
    if (word == slashes + " BEGIN SOLUTION") {
      pass(Part::kShared, Part::kSolution, word.c_str());
      ++regions;
    } else if (word == slashes + " SKELETON") {
      pass(Part::kSolution, Part::kSkeleton, word.c_str());
    } else if (word == slashes + " END SOLUTION") {
      pass(Part::kSkeleton, Part::kShared, word.c_str());
    } else if (part == Part::kShared || part == wanted) {
      out += (part == Part::kSkeleton ? uncommented(line, slashes) : line) + "\n";
    }
  }
  if (part != Part::kShared || regions == 0)
    throw MachineError(fmt::format("a solution lacks {} END SOLUTION, or has no markers at all", slashes));
  return out;
}

}  // namespace

std::string skeleton_of(const std::string& solution) { return only(Part::kSkeleton, solution); }

std::string plain_solution_of(const std::string& solution) { return only(Part::kSolution, solution); }

}  // namespace workbook
