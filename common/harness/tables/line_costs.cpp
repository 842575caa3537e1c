#include "harness/tables/line_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <sstream>
#include <tuple>
#include <utility>

#include "cpu_device/program_image/source_line.hpp"
#include "harness/tables/count_marks.hpp"
#include "harness/tables/derived_counts.hpp"
#include "system/plural.hpp"
#include "system/read_file.hpp"
#include "system/terminal.hpp"

namespace workbook {

std::vector<std::string> text_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

const std::vector<std::string>& source_lines(const std::string& name) {
  static std::map<std::string, std::vector<std::string>> known;
  const auto [found, is_new] = known.try_emplace(name);
  if (!is_new || name.empty()) return found->second;
  found->second = text_lines(cpu::source_text(name));
  return found->second;
}

namespace {

/// A source line without the spaces around it; tabs count as one.
std::string source_text(const std::string& file, int line) {
  const std::vector<std::string>& lines = source_lines(file);
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return "";
  std::string text = lines[static_cast<std::size_t>(line) - 1];
  const auto begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  text = text.substr(begin, end - begin + 1);
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text;
}

long long requests(const Counts& c) { return c.load_requests + c.store_requests; }
long long sectors(const Counts& c) { return c.load_sectors + c.store_sectors; }

/// Loads and stores of global memory together.
std::string use(const Counts& c) {
  const long long bytes = read_bytes(c) + written_bytes(c);
  if (bytes == 0) return "-";
  return percent(static_cast<double>(c.load_bytes + c.store_bytes) / static_cast<double>(bytes));
}

/// A column of `--lines`, which is shown if any line has something in it.
struct LineColumn {
  const char* group;
  const char* heading;
  bool (*any)(const Counts&);
  std::string (*cell)(const Counts&, CountMarks&);
};

/// "-" for nothing, so that the eye finds the lines that have some.
std::string some(long long count) { return count ? std::to_string(count) : "-"; }

bool uses_global(const Counts& c) { return requests(c) > 0; }
bool uses_shared(const Counts& c) { return c.shared_requests > 0; }

constexpr LineColumn kLineColumns[] = {
    {"", "requests", uses_global,
     [](const Counts& c, CountMarks& m) { return requests(c) ? m.sectors(c, some(requests(c))) : "-"; }},
    {"global", "sectors", uses_global,
     [](const Counts& c, CountMarks& m) { return sectors(c) ? m.sectors(c, some(sectors(c))) : "-"; }},
    {"", "use", uses_global, [](const Counts& c, CountMarks&) { return use(c); }},
    {"", "requests", uses_shared,
     [](const Counts& c, CountMarks& m) {
       return c.shared_requests ? m.sectors(c, some(c.shared_requests)) : "-";
     }},
    {"shared", "wavefronts", uses_shared,
     [](const Counts& c, CountMarks& m) {
       return c.shared_requests ? m.wavefronts(c, some(shared_wavefronts(c))) : "-";
     }},
    {"", "atomics",
     [](const Counts& c) { return c.atomic_sectors + c.shared_atomic_requests > 0 || c.contended; },
     [](const Counts& c, CountMarks&) { return some(c.atomic_sectors + c.shared_atomic_requests); }},
};

Counts sum_of(const std::vector<LineCounts>& lines) {
  Counts sum;
  for (const LineCounts& line : lines) sum += line.counts;
  return sum;
}

/// The first characters of the text that fit, with "..." where some are left out.
std::string shortened(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  if (width <= 3) return "";
  std::size_t end = width - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // not inside a character
  return text.substr(0, end) + "...";
}

/// "8 barriers: __syncthreads();"
std::string barriers_text(const Counts& counts, const std::string& source) {
  return fmt::format("{}: {}", plural(counts.barriers, "barrier"), source);
}

/// The width of the first column and the space after it.
constexpr std::size_t kNumberWidth = 8;

/// The table of one kernel's lines.
std::string lines_table(const std::vector<LineCounts>& lines, CountMarks& marks) {
  const Counts sum = sum_of(lines);
  std::vector<const LineColumn*> columns;
  for (const LineColumn& column : kLineColumns)
    if (column.any(sum)) columns.push_back(&column);
  std::vector<std::string> groups = {""}, headings = {"line"};
  for (const LineColumn* column : columns) {
    groups.push_back(column->group);
    headings.push_back(column->heading);
  }
  const auto cells = [&](const std::string& name, const Counts& counts) {
    std::vector<std::string> row = {name};
    for (const LineColumn* column : columns) row.push_back(column->cell(counts, marks));
    return row;
  };
  const auto table = [&](std::size_t source_width) {
    Table rows(groups, headings);
    for (const LineCounts& line : lines) {
      const std::string number = line.line ? std::to_string(line.line) : "?";
      const std::string source = source_text(line.file, line.line);
      if (line.counts.accesses == 0)
        rows.add({number}, shortened(barriers_text(line.counts, source), line_width() - kNumberWidth));
      else
        rows.add(cells(number, line.counts), shortened(source, source_width));
    }
    rows.add(cells("sum", sum));
    return rows;
  };
  const std::size_t taken = table(0).width() + 2;
  return table(line_width() > taken ? line_width() - taken : 0).text();
}

/// The launches by kernel, in the order of their first ones.
std::vector<std::pair<std::string, std::vector<LaunchCounts>>> by_kernel(
    const std::vector<LaunchCounts>& launches) {
  std::vector<std::pair<std::string, std::vector<LaunchCounts>>> kernels;
  for (const LaunchCounts& launch : launches) {
    const auto found = std::find_if(kernels.begin(), kernels.end(),
                                    [&](const auto& kernel) { return kernel.first == launch.kernel; });
    if (found == kernels.end())
      kernels.push_back({launch.kernel, {launch}});
    else
      found->second.push_back(launch);
  }
  return kernels;
}

}  // namespace

std::vector<LineCounts> line_counts(const std::vector<LaunchCounts>& launches) {
  std::map<std::pair<std::string, int>, Counts> lines;
  for (const LaunchCounts& launch : launches)
    for (const SiteCounts& site : launch.sites) lines[{site.file, site.line}] += site.counts;
  std::vector<LineCounts> all;
  for (const auto& [place, counts] : lines) all.push_back({place.first, place.second, counts});
  return all;
}

std::string lines_text(const std::vector<LaunchCounts>& launches) {
  CountMarks marks;
  std::string out;
  for (const auto& [kernel, its] : by_kernel(launches)) {
    const std::vector<LineCounts> lines = line_counts(its);
    std::string heading = its.size() == 1 ? kernel : fmt::format("{}, {} launches", kernel, its.size());
    if (its.back().ended_early) heading += ", ended by a finding: what was counted so far";
    if (lines.empty()) {
      out += fmt::format("\n{}", indented(heading + ": no line accesses memory", 0));
      continue;
    }
    for (std::size_t first = 0; first < lines.size();) {  // a table for each file
      std::size_t end = first;
      while (end < lines.size() && lines[end].file == lines[first].file) ++end;
      const std::string& file = lines[first].file;
      const std::string place = file.empty() ? "place unknown" : file;
      out += fmt::format("\n{}", indented(fmt::format("{} ({})", heading, place), 0));
      out += lines_table({lines.begin() + static_cast<std::ptrdiff_t>(first),
                          lines.begin() + static_cast<std::ptrdiff_t>(end)},
                         marks);
      first = end;
    }
  }
  return out + marks.legend();
}

}  // namespace workbook
