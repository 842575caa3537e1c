#include "harness/tables/line_page.hpp"

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

#include "harness/tables/derived_counts.hpp"
#include "harness/tables/line_costs.hpp"
#include "system/plural.hpp"
#include "system/read_file.hpp"

namespace workbook {

using nlohmann::ordered_json;

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
