#include "skeleton.hpp"

#include <fmt/format.h>

#include <sstream>

#include "harness/errors.hpp"

namespace workbook {
namespace {

enum class Part { kShared, kSolution, kSkeleton };

std::string without_indentation(const std::string& line) {
  const auto begin = line.find_first_not_of(' ');
  return begin == std::string::npos ? "" : line.substr(begin);
}

/// "  // x" -> "  x", "//" -> "".
std::string uncommented(const std::string& line) {
  const auto slashes = line.find("//");
  if (slashes == std::string::npos || slashes != line.find_first_not_of(' '))
    throw MachineError(fmt::format(
        "a solution lacks // END SOLUTION, or its skeleton has a line that is no comment: \"{}\"", line));
  if (slashes + 2 == line.size()) return "";
  return line.substr(0, slashes) + line.substr(slashes + (line[slashes + 2] == ' ' ? 3 : 2));
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
  for (std::string line; std::getline(lines, line);) {
    const std::string word = without_indentation(line);
    if (word == "// BEGIN SOLUTION") {
      pass(Part::kShared, Part::kSolution, word.c_str());
      ++regions;
    } else if (word == "// SKELETON") {
      pass(Part::kSolution, Part::kSkeleton, word.c_str());
    } else if (word == "// END SOLUTION") {
      pass(Part::kSkeleton, Part::kShared, word.c_str());
    } else if (part == Part::kShared || part == wanted) {
      out += (part == Part::kSkeleton ? uncommented(line) : line) + "\n";
    }
  }
  if (part != Part::kShared || regions == 0)
    throw MachineError("a solution lacks // END SOLUTION, or has no markers at all");
  return out;
}

}  // namespace

std::string skeleton_of(const std::string& solution) { return only(Part::kSkeleton, solution); }

std::string plain_solution_of(const std::string& solution) { return only(Part::kSolution, solution); }

}  // namespace workbook
