#include "harness/lines.hpp"

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
#include "harness/count_marks.hpp"
#include "harness/derived_counts.hpp"
#include "harness/terminal.hpp"
#include "plural.hpp"
#include "read_file.hpp"

namespace workbook {
namespace {

using nlohmann::ordered_json;

std::vector<std::string> text_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The lines of a source file by its name in the debug information; empty where it is not there.
const std::vector<std::string>& source_lines(const std::string& name) {
  static std::map<std::string, std::vector<std::string>> known;
  const auto [found, is_new] = known.try_emplace(name);
  if (!is_new || name.empty()) return found->second;
  found->second = text_lines(cpu::source_text(name));
  return found->second;
}

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

// --- In the terminal ---

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

// --- As JSON, for the page ---

namespace {

/// The most requests on a page: those of later launches are left out.
constexpr std::size_t kMostRequestsShown = 6000;

/// The most launches that a page lists one by one: the first ones and the last. The others are added up.
constexpr std::size_t kMostLaunchesShown = 100;

/// Lines that are shown around those that have counts, of files that are not the reader's.
constexpr int kLinesAround = 12;

/// The kernel's file and line, with which the first line of a message ends: "race: kernel k (a b/c.cu:6)".
std::optional<std::pair<std::string, int>> head_of(const std::string& text) {
  static const std::regex head(R"(.*? \((.+):(\d{1,8})\))");
  const std::string first_line = text.substr(0, text.find('\n'));
  std::smatch found;
  if (!std::regex_match(first_line, found, head)) return std::nullopt;
  return std::pair(found[1].str(), std::stoi(found[2]));
}

/// The places that a message names: the line in the kernel's file, or a file and a line. Those after "look
/// at:" are advice and are skipped.
std::vector<std::pair<std::string, int>> places_in(const std::string& message) {
  // A file's name may have spaces and parentheses, but no " at ".
  static const std::regex place(R"( at (?:or near )?(?:line (\d{1,8})|((?:(?! at )[^\n])+?):(\d{1,8}))\b)");
  const std::string text = message.substr(0, message.find("\n  look at:"));
  const std::optional<std::pair<std::string, int>> kernel = head_of(text);
  if (!kernel) return {};
  const auto& head = *kernel;
  std::vector<std::pair<std::string, int>> places;
  for (std::sregex_iterator at(text.begin(), text.end(), place), end; at != end; ++at) {
    const std::smatch& one = *at;
    const std::pair<std::string, int> here = one[1].matched ? std::pair(head.first, std::stoi(one[1]))
                                                            : std::pair(one[2].str(), std::stoi(one[3]));
    if (std::find(places.begin(), places.end(), here) == places.end()) places.push_back(here);
  }
  return places.empty() ? std::vector{head} : places;
}

/// The files of a page and the lines of them that it shows.
class ShownFiles {
 public:
  explicit ShownFiles(const std::string& readers) {
    std::error_code error;
    readers_ = std::filesystem::weakly_canonical(readers, error).string();
    name_ = readers;
    whole_ = text_lines(read_file(readers).text);
  }

  /// The number of the file in the page; notes that it shows the line.
  std::size_t show(const std::string& file, int line) {
    if (is_readers(file)) return 0;
    const auto [found, is_new] = others_.try_emplace(file, Other{order_.size() + 1, line, line});
    if (is_new) order_.push_back(file);
    Other& other = found->second;
    other.first = std::min(other.first, line);
    other.last = std::max(other.last, line);
    return other.number;
  }

  ordered_json json() const {
    ordered_json all = ordered_json::array({{{"name", name_}, {"first", 1}, {"lines", whole_}}});
    for (const std::string& file : order_) {
      const std::vector<std::string>& lines = source_lines(file);
      const Other& other = others_.at(file);
      const int last = std::min(other.last + kLinesAround, static_cast<int>(lines.size()));
      const int first = std::clamp(other.first - kLinesAround, 1, std::max(1, last));
      std::vector<std::string> shown;
      if (last >= first) shown.assign(lines.begin() + first - 1, lines.begin() + last);
      all.push_back({{"name", file.empty() ? "place unknown" : file}, {"first", first}, {"lines", shown}});
    }
    return all;
  }

 private:
  struct Other {
    std::size_t number;
    int first, last;
  };
  /// Debug information names files relative to the project: "chapters/x", and those of the build "/x".
  bool is_readers(const std::string& file) const {
    return !file.empty() && readers_.ends_with(file.starts_with('/') ? file : fmt::format("/{}", file));
  }

  std::string readers_, name_;
  std::vector<std::string> whole_;
  std::map<std::string, Other> others_;
  std::vector<std::string> order_;
};

/// How many more requests a page may hold, and whether that was too few.
struct Room {
  std::size_t left = kMostRequestsShown;
  bool cut = false;
};

/// The counts that a page shows.
ordered_json shown_counts(const Counts& c) {
  ordered_json counts = counts_json(&c);
  counts["barriers"] = c.barriers;
  return counts;
}

ordered_json requests_json(const LaunchCounts& launch, Room& room) {
  ordered_json all = ordered_json::array();
  for (const WarpRequests& warp : launch.warps) {
    ordered_json requests = ordered_json::array();
    for (const TracedRequest& r : warp.first) {
      if (room.left == 0) {
        room.cut = true;
        break;
      }
      --room.left;
      requests.push_back({{"array", r.array},
                          {"element", r.element},
                          {"start", r.start},
                          {"offsets", r.offsets},
                          {"sectors", r.sectors},
                          {"wavefronts", r.wavefronts},
                          {"unfinished", r.unfinished}});
    }
    all.push_back({{"site", warp.site},
                   {"block", warp.block},
                   {"warp", warp.warp},
                   {"executed", warp.executed},
                   {"requests", requests}});
  }
  return all;
}

ordered_json viewed_launch_json(const LaunchCounts& launch, ShownFiles& files, Room& room) {
  ordered_json out = launch_json(launch);
  out["ended_early"] = launch.ended_early;
  out["counts"] = shown_counts(launch.counts);
  out["sites"] = ordered_json::array();
  for (const SiteCounts& site : launch.sites)
    out["sites"].push_back({{"file", files.show(site.file, site.line)},
                            {"line", site.line},
                            {"operation", text_of(site.kind)},
                            {"space", text_of(site.space)},
                            {"array", site.array},
                            {"bytes", site.bytes},
                            {"counts", shown_counts(site.counts)}});
  out["warps"] = requests_json(launch, room);
  return out;
}

/// Launches of one kernel as one, with the sums of their instructions and without requests.
struct AddedUp {
  LaunchCounts sum = {};
  std::size_t count = 0;
  std::map<std::tuple<std::string, int, RequestKind, MemorySpace, std::string, unsigned>, std::size_t> sites;

  void add(const LaunchCounts& launch) {
    sum.kernel = launch.kernel;
    sum.counts += launch.counts;
    ++count;
    for (const SiteCounts& site : launch.sites) {
      const auto [found, is_new] = sites.try_emplace(
          {site.file, site.line, site.kind, site.space, site.array, site.bytes}, sum.sites.size());
      if (is_new)
        sum.sites.push_back(site);
      else
        sum.sites[found->second].counts += site.counts;
    }
  }
};

/// The launches one by one as far as a page lists them, then the others, added up kernel by kernel.
ordered_json viewed_launches_json(const std::vector<LaunchCounts>& launches, ShownFiles& files, Room& room) {
  ordered_json all = ordered_json::array();
  std::map<std::string, AddedUp> others;  // by kernel
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (i + 1 >= kMostLaunchesShown && i + 1 < launches.size()) {
      others[launches[i].kernel].add(launches[i]);
      continue;
    }
    all.push_back(viewed_launch_json(launches[i], files, room));
    all.back()["number"] = i + 1;
  }
  for (const auto& [kernel, its] : others) {
    all.push_back(viewed_launch_json(its.sum, files, room));
    all.back()["added_up"] = its.count;
  }
  return all;
}

ordered_json messages_json(const std::vector<std::string>& messages, const char* kind, ShownFiles& files) {
  ordered_json all = ordered_json::array();
  for (const std::string& text : messages) {
    ordered_json places = ordered_json::array();
    for (const auto& [file, line] : places_in(text))
      places.push_back({{"file", files.show(file, line)}, {"line", line}});
    all.push_back({{"kind", kind}, {"text", text}, {"places", places}});
  }
  return all;
}

}  // namespace

std::string view_json(const View& view) {
  ShownFiles files(view.file);
  Room room;
  const ordered_json launches = viewed_launches_json(view.launches, files, room);
  ordered_json messages = messages_json(view.findings, "finding", files);
  for (const ordered_json& note : messages_json(view.notes, "note", files)) messages.push_back(note);
  ordered_json out = {{"schema", 1},
                      {"title", view.title},
                      {"at", view.at},
                      {"result", view.result},
                      {"first_blocks", kFirstLoggedBlocks},
                      {"first_warps", kFirstLoggedWarps},
                      {"most_executions", kMostLoggedExecutions},
                      {"most_requests", kMostRequestsShown},
                      {"requests_left_out", room.cut},
                      {"launch_count", view.launches.size()},
                      {"launches", launches},
                      {"messages", messages},
                      {"files", files.json()},
                      {"text", lines_text(view.launches)}};
  return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace workbook
