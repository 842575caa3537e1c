#include "play/play_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/options.hpp"
#include "harness/tables/count_marks.hpp"
#include "harness/tables/derived_counts.hpp"
#include "harness/tables/line_costs.hpp"
#include "harness/tables/line_page.hpp"
#include "harness/tables/note_words.hpp"
#include "play/run_play.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/say.hpp"
#include "system/terminal.hpp"

namespace workbook {
namespace {

using nlohmann::ordered_json;

std::string extent(const Dim3& size) {
  if (size.z > 1) return fmt::format("{}x{}x{}", size.x, size.y, size.z);
  return size.y > 1 ? fmt::format("{}x{}", size.x, size.y) : fmt::format("{}", size.x);
}

/// The table of the launches' loads, stores and wavefronts, with these names.
Table launches_table(const std::vector<LaunchCounts>& launches, const std::vector<std::string>& names,
                     CountMarks& marks) {
  std::vector<std::string> groups = {"", "", "", "", "loads", "", "", "stores", "", "shared wave-"};
  std::vector<std::string> headings = {"kernel", "grid",     "block",   "requests", "sectors",
                                       "use",    "requests", "sectors", "use",      "fronts"};
  const bool repeated =
      std::any_of(launches.begin(), launches.end(), [](const LaunchCounts& one) { return one.times > 1; });
  if (repeated) {
    groups.insert(groups.begin(), "");
    headings.insert(headings.begin() + 1, "times");
  }
  Table table(groups, headings);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const LaunchCounts& launch = launches[i];
    const Counts& c = launch.counts;
    const auto sectors = [&](long long n) { return marks.sectors(c, std::to_string(n)); };
    std::vector<std::string> row = {names[i],
                                    extent(launch.grid),
                                    extent(launch.block),
                                    sectors(c.load_requests),
                                    sectors(c.load_sectors),
                                    percent(load_efficiency(c)),
                                    sectors(c.store_requests),
                                    sectors(c.store_sectors),
                                    percent(store_efficiency(c)),
                                    marks.wavefronts(c, std::to_string(shared_wavefronts(c)))};
    if (repeated) row.insert(row.begin() + 1, std::to_string(launch.times));
    table.add(std::move(row));
  }
  return table;
}

void print_launches(const std::vector<LaunchCounts>& launches) {
  CountMarks marks;
  std::vector<std::string> names;
  for (const LaunchCounts& launch : launches) names.push_back(launch.kernel);
  Table table = launches_table(launches, names, marks);
  std::string meaning;  // of the names, where numbers stand for them
  // Columns with one space between them can be told apart if no name has one.
  const bool spaced = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.find(' ') != std::string::npos;
  });
  if ((spaced ? table.width() : table.least_width()) > line_width()) {
    for (std::size_t i = 0; i < launches.size(); ++i) {
      names[i] = std::to_string(i + 1);
      meaning += indented(fmt::format("{}: {}", names[i], launches[i].kernel), 0);
    }
    meaning += "\n";
    table = launches_table(launches, names, marks);
  }
  std::vector<std::pair<std::string, Counts>> counts;
  for (std::size_t i = 0; i < launches.size(); ++i) counts.emplace_back(names[i], launches[i].counts);
  fmt::print("\n{}{}{}{}", meaning, table.text(), atomics_text(counts), marks.legend());
}

}  // namespace

std::optional<ExitStatus> parse_play_options(int argc, const char* const* argv, PlayOptions& options) {
  CLI::App app;
  app.add_option("FILE", options.file)->required();
  std::string kind = text_of(options.device);
  app.add_option("--device", kind)->check(CLI::IsMember({"cpu", "gpu"}));
  app.add_flag("--json", options.json);
  app.add_flag("--lines", options.lines);
  app.add_option("--view", options.view);
  app.add_option("--note", options.notes)->allow_extra_args(false);
  app.add_option("--launches", options.launches);
  app.add_option("--gpus", options.gpus);
  app.add_option("--model", options.model);
  app.add_option("ARGUMENT", options.arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kBadUsage;  // 0 for --help
  }
  options.device = *device_kind_named(kind);
  try {
    require_note_words(options.notes, options.device);
    if (options.lines) require_countable(options.device);
    if (options.lines && options.json) throw UsageError("--lines and --json exclude each other");
  } catch (const UsageError& error) {
    say("{}", complaint("play", error.what()));
    return kBadUsage;
  }
  return std::nullopt;
}

void report_play(const PlayOptions& options, const std::string& device,
                 const std::vector<LaunchCounts>& launches, const PlayFindings& found) {
  const bool counted = options.device == DeviceKind::kCpu;
  if (options.json) {
    ordered_json report = {{"schema", 1},
                           {"file", options.file},
                           {"device", device},
                           {"finding", found.finding},
                           {"notes", found.notes}};
    report["launches"] = counted ? ordered_json::array() : ordered_json(nullptr);
    for (const LaunchCounts& launch : launches) {
      report["launches"].push_back(launch_json(launch));
      report["launches"].back().update(counts_json(&launch.counts));
      if (launch.times > 1) report["launches"].back()["times"] = launch.times;
    }
    fmt::print("{}\n", report.dump(1, ' ', false, ordered_json::error_handler_t::replace));
  } else {
    if (counted && !launches.empty() && options.view.empty()) print_launches(launches);
    if (options.lines) fmt::print("{}", lines_text(launches));
    if (counted && launches.empty() && found.finding.empty())
      fmt::print("\n{} has launched no kernel.\n", options.is_program ? "The program" : "play()");
    if (!counted && found.finding.empty())
      fmt::print("\nIt ran to its end. A GPU tells no counts here: the CPU device does.\n");
    if (!found.finding.empty()) fmt::print("\n{}", indented(found.finding, 0));
    for (const std::string& note : found.notes) fmt::print("\n{}", indented(note, 0));
    fmt::print("{}", how_to_go_on({found.note_word}));
  }
  if (!options.view.empty()) {
    const std::string title = std::filesystem::path(options.file).filename().string();
    View view = {title, options.file, "", "", launches, {}, found.notes};
    if (!found.finding.empty()) view.findings.push_back(found.finding);
    replace_file(options.view, view_json(view));
  }
}

/// Tells who has started the program that it comes to its end by itself, whatever its status.
void tell_done() {
  const char* const pipe = std::getenv(kDoneVariable);
  if (pipe && write(std::atoi(pipe), "", 1) != 1) say("play: nobody waits for its end\n");
}

}  // namespace workbook
