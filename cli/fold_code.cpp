#include "fold_code.hpp"

#include <algorithm>
#include <sstream>

namespace workbook {
namespace {

/// The beginning of the second and later parts of a line.
std::string beginning_of_rest(const std::string& line) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string spaces(indent, ' ');
  if (line.compare(indent, 2, "//") != 0) return spaces + "    ";
  return spaces + (line.compare(indent, 3, "///") == 0 ? "/// " : "// ");
}

/// A comment at the end of a long line gets a line of its own, above it.
std::string with_comment_above(const std::string& line, std::size_t width) {
  const std::size_t comment = line.find("  // "), indent = line.find_first_not_of(' ');
  if (line.size() <= width || comment == std::string::npos || comment <= indent) return line;
  const std::size_t code_end = line.find_last_not_of(' ', comment) + 1;
  return std::string(indent, ' ') + line.substr(comment + 2) + "\n" + line.substr(0, code_end);
}

std::string folded_line(std::string line, std::size_t width) {
  const std::string rest = beginning_of_rest(line);
  std::string out;
  while (line.size() > width) {
    const std::size_t space = line.rfind(' ', width);
    if (space == std::string::npos || space <= rest.size()) break;  // one long word
    out += line.substr(0, space) + "\n";
    line = rest + line.substr(space + 1);
  }
  return out + line + "\n";
}

}  // namespace

std::string folded(const std::string& code, std::size_t width, std::size_t marks) {
  std::istringstream lines(code);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const std::string mark = line.substr(0, marks);
    std::istringstream parts(with_comment_above(line.substr(mark.size()), width - marks));
    for (std::string part; std::getline(parts, part);) {
      std::istringstream pieces(folded_line(part, width - marks));
      for (std::string piece; std::getline(pieces, piece);) out += mark + piece + "\n";
    }
    if (line.size() == mark.size()) out += mark + "\n";
  }
  return out;
}

}  // namespace workbook
