#include "system/terminal.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "system/say.hpp"

namespace workbook {
namespace {

std::string painted(const char* code, const std::string& text) {
  return takes_escapes(STDOUT_FILENO) ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
}

/// How many columns of a terminal UTF-8 text fills. Every character used here is one column wide.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string without_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

bool takes_escapes(int output) {
  const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
  const bool dumb = terminal && std::string(terminal) == "dumb";
  return isatty(output) && !dumb && !(no_colour && *no_colour);
}

std::string bold(const std::string& text) { return painted("1", text); }
std::string red(const std::string& text) { return painted("31", text); }
std::string percent(std::optional<double> share) {
  return share ? fmt::format("{:.0f}%", 100 * *share) : "-";
}

std::size_t line_width() {
  constexpr std::size_t kUsual = 80, kLeast = 20;
  winsize size = {};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return std::max(known ? std::size_t{size.ws_col} : kUsual, kLeast) - 1;
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::istringstream words(text);
  std::string out, line;
  const auto end_line = [&] {
    if (!line.empty()) out += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  for (std::string word; words >> word;) {
    if (!line.empty() && indent + columns(line) + 1 + columns(word) > width) end_line();
    line += (line.empty() ? "" : " ") + word;
  }
  end_line();
  return out;
}

std::string indented(const std::string& text, std::size_t indent, std::size_t width) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t own = std::min(line.find_first_not_of(' '), line.size());
    if (indent + columns(line) > width)
      out += wrapped(line, indent + own, width);
    else
      out += (line.empty() ? "" : std::string(indent, ' ') + line) + "\n";
  }
  return out;
}

std::string printable(const std::string& name, std::string_view kept) {
  std::string shown;
  for (const char c : name) {
    if (kept.find(c) != kept.npos)
      shown += c;
    else if (c == '\n')
      shown += "\\n";
    else if (const auto code = static_cast<unsigned char>(c); code < ' ' || code == 0x7f)
      shown += fmt::format("\\x{:02x}", code);
    else
      shown += c;
  }
  return shown;
}

std::string complaint(const std::string& program, const std::string& text) {
  const std::string message = printable(text, "\n\t");
  const std::size_t end = message.find('\n');
  const std::string rest = end == std::string::npos ? "" : message.substr(end + 1) + "\n";
  return wrapped(fmt::format("{}: {}", program, message.substr(0, end)), 0) + rest;
}

std::vector<std::size_t> Table::column_widths() const {
  std::vector<std::size_t> widths;
  const auto widen = [&](const std::vector<std::string>& cells) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t c = 0; c < cells.size(); ++c) widths[c] = std::max(widths[c], columns(cells[c]));
  };
  widen(headings_);
  for (const Row& row : rows_) widen(row.cells);
  return widths;
}

std::size_t Table::width() const {
  std::size_t width = 0;
  for (const std::size_t column : column_widths()) width += (width ? 2 : 0) + column;
  return width;
}

std::string Table::text() const {
  const std::vector<std::size_t> widths = column_widths();
  const std::size_t gap = width() > line_width() + 1 ? 1 : 2;
  const auto line = [&](const std::vector<std::string>& cells, const std::string& remark) {
    std::string out;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string padding(widths[c] - columns(cells[c]), ' ');
      out += c == 0 ? cells[c] + padding : std::string(gap, ' ') + padding + cells[c];
    }
    if (!remark.empty()) out += "  " + remark;
    return without_trailing_space(out);
  };
  std::string out;
  std::string groups;
  std::size_t end = 0;
  for (std::size_t c = 0; c < groups_.size(); ++c) {
    end += widths[c] + (c == 0 ? 0 : gap);
    const std::size_t taken = columns(groups) + columns(groups_[c]);
    if (!groups_[c].empty()) groups += std::string(end > taken ? end - taken : 1, ' ') + groups_[c];
  }
  if (!groups.empty()) out += bold(groups) + "\n";
  out += bold(line(headings_, "")) + "\n";
  for (const Row& row : rows_) out += line(row.cells, row.remark) + "\n";
  return out;
}

Progress::Progress() : terminal_(takes_escapes(STDERR_FILENO)), start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (shown_) say("\r\033[K");
}

void Progress::say(const std::string& what) {
  using namespace std::chrono_literals;
  if (!terminal_ || (!shown_ && std::chrono::steady_clock::now() - start_ < 1s)) return;
  shown_ = true;
  workbook::say("\r\033[K{} ...", what);
  fflush(stderr);
}

}  // namespace workbook
