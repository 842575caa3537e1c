#include "harness/run_play.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cpu/finding.hpp"
#include "harness/backend.hpp"
#include "harness/count_marks.hpp"
#include "harness/derived_counts.hpp"
#include "harness/errors.hpp"
#include "harness/exit_status.hpp"
#include "harness/files.hpp"
#include "harness/lines.hpp"
#include "harness/note_words.hpp"
#include "harness/options.hpp"
#include "harness/terminal.hpp"
#include "play_memory.hpp"
#include "plural.hpp"

namespace workbook {
namespace {

using nlohmann::ordered_json;

Backend* device = nullptr;  // the device that play() runs on; null outside of it
FILE* out = stdout;         // for what play() prints, which must not be mixed with JSON

std::string extent(const Dim3& size) {
  if (size.z > 1) return fmt::format("{}x{}x{}", size.x, size.y, size.z);
  return size.y > 1 ? fmt::format("{}x{}", size.x, size.y) : fmt::format("{}", size.x);
}

/// The table of the launches' loads, stores and wavefronts, with these names.
Table launches_table(const std::vector<LaunchCounts>& launches, const std::vector<std::string>& names,
                     CountMarks& marks) {
  Table table(
      {"", "", "", "", "loads", "", "", "stores", "", "shared wave-"},
      {"kernel", "grid", "block", "requests", "sectors", "use", "requests", "sectors", "use", "fronts"});
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const LaunchCounts& launch = launches[i];
    const Counts& c = launch.counts;
    const auto sectors = [&](long long n) { return marks.sectors(c, std::to_string(n)); };
    table.add({names[i], extent(launch.grid), extent(launch.block), sectors(c.load_requests),
               sectors(c.load_sectors), load_efficiency(c), sectors(c.store_requests),
               sectors(c.store_sectors), store_efficiency(c),
               marks.wavefronts(c, std::to_string(shared_wavefronts(c)))});
  }
  return table;
}

void print_launches(const std::vector<LaunchCounts>& launches) {
  CountMarks marks;
  std::vector<std::string> names;
  for (const LaunchCounts& launch : launches) names.push_back(launch.kernel);
  Table table = launches_table(launches, names, marks);
  std::string meaning;  // of the names, where numbers stand for them
  if (table.width() > line_width()) {
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

struct PlayOptions {
  std::string file;  ///< the reader's file, as the output names it
  DeviceKind device = DeviceKind::kCpu;
  bool json = false;
  bool lines = false;
  std::string view;                ///< the path of a file for the data of a page; empty: none
  std::vector<std::string> notes;  ///< kinds of findings that are to be notes

  /// The details of each launch to keep.
  Detail detail() const { return lines || !view.empty() ? Detail::kInstructions : Detail::kNone; }
};

/// Tells who has started the program that it comes to its end by itself, whatever its status.
void tell_done() {
  const char* const pipe = std::getenv(kDoneVariable);
  if (pipe && write(std::atoi(pipe), "", 1) != 1) fmt::print(stderr, "play: nobody waits for its end\n");
}

/// At the program's end: says so if the reader's code has ended it, which is a mistake whatever its status.
void report_exit() {
  if (!device) return;
  fflush(stdout);
  fmt::print(stderr, "\nThe program ended itself: does your file call exit?\n");
  tell_done();
  std::_Exit(kWrong);
}

/// Runs the reader's code with `run`, which appends to `launches`, and reports. Returns kDone, or kWrong when
/// something was found.
ExitStatus play_on(Backend& backend, const PlayOptions& options, const std::function<void()>& run,
                   const std::vector<LaunchCounts>& launches) {
  const std::string name = backend.info().name;
  device = &backend;
  out = options.json ? stderr : stdout;
  if (!options.json) fmt::print("{}, {}\n", options.file, name);
  std::string finding, note_word;
  std::atexit(report_exit);
  try {
    run();
  } catch (const cpu::Finding& found) {
    finding = found.what();
    note_word = found.note_word;
  } catch (const std::bad_alloc&) {
    finding = "there is not enough memory for what play() allocates";
  } catch (const std::exception& found) {
    finding = found.what();
  } catch (...) {
    finding = kStrangeException;
  }
  device = nullptr;
  const std::vector<std::string> notes = backend.take_notes();

  const bool counted = options.device == DeviceKind::kCpu;
  if (options.json) {
    ordered_json report = {
        {"schema", 1}, {"file", options.file}, {"device", name}, {"finding", finding}, {"notes", notes}};
    report["launches"] = counted ? ordered_json::array() : ordered_json(nullptr);
    for (const LaunchCounts& launch : launches) {
      report["launches"].push_back(launch_json(launch));
      report["launches"].back().update(counts_json(&launch.counts));
    }
    fmt::print("{}\n", report.dump(1, ' ', false, ordered_json::error_handler_t::replace));
  } else {
    if (counted && !launches.empty() && options.view.empty()) print_launches(launches);
    if (options.lines) fmt::print("{}", lines_text(launches));
    if (counted && launches.empty() && finding.empty()) fmt::print("\nplay() has launched no kernel.\n");
    if (!counted && finding.empty())
      fmt::print("\nIt ran to its end. A GPU tells no counts here: the CPU device does.\n");
    if (!finding.empty()) fmt::print("\n{}", indented(finding, 0));
    for (const std::string& note : notes) fmt::print("\n{}", indented(note, 0));
    fmt::print("{}", how_to_go_on({note_word}));
  }
  if (!options.view.empty()) {
    const std::string title = std::filesystem::path(options.file).filename().string();
    View view = {title, options.file, "", "", launches, {}, notes};
    if (!finding.empty()) view.findings.push_back(finding);
    replace_file(options.view, view_json(view));
  }
  return finding.empty() ? kDone : kWrong;
}

}  // namespace

namespace play {

void* allocate(const char* name, long long count, size_t element_size) {
  if (!name) throw std::invalid_argument("an Array has no name: its first argument is a null pointer");
  if (!device) {  // before main, where nobody would catch an exception
    fmt::print(
        stderr, "{}",
        wrapped(fmt::format("Array {} is a global variable: make it a local variable of play().", name), 0));
    tell_done();
    std::_Exit(kWrong);
  }
  if (count <= 0)
    throw std::invalid_argument(
        fmt::format("Array {} is to have {} elements: it needs at least 1", name, count));
  const double elements = static_cast<double>(count), free = static_cast<double>(device->free_bytes());
  const double needed = elements * static_cast<double>(device->footprint(element_size));
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  if (needed > free)
    throw std::invalid_argument(
        fmt::format("Array {} of {} takes {:.1f} GiB of memory, and {:.1f} GiB are free", name,
                    plural(count, "element"), needed / kGiB, free / kGiB));
  return device->allocate(static_cast<size_t>(count) * element_size, 0, name, element_size);
}
void release(void* memory) {
  if (device) device->release(memory);
}
void upload(void* memory, const void* host, size_t bytes) { device->upload(memory, host, bytes); }
void download(void* host, const void* memory, size_t bytes) { device->download(host, memory, bytes); }
void print(const char* name, const double* first, int printed, int count) {
  fmt::print(out, "{}:", name);
  for (int i = 0; i < printed; ++i) fmt::print(out, " {:g}", first[i]);
  fmt::print(out, "{}\n", printed < count ? " ..." : "");
}

}  // namespace play

namespace {

int run_checked(int argc, const char* const* argv, void (*cpu)(), void (*gpu)()) {
  CLI::App app;
  PlayOptions options;
  app.add_option("FILE", options.file)->required();
  std::string kind = text_of(options.device);
  app.add_option("--device", kind)->check(CLI::IsMember({"cpu", "gpu"}));
  app.add_flag("--json", options.json);
  app.add_flag("--lines", options.lines);
  app.add_option("--view", options.view);
  app.add_option("--note", options.notes)->allow_extra_args(false);
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
    fmt::print(stderr, "{}", complaint("play", error.what()));
    return kBadUsage;
  }

  if (options.device == DeviceKind::kCpu) {
    std::vector<LaunchCounts> launches;
    const auto backend = make_cpu_backend([&](const LaunchCounts& launch) { launches.push_back(launch); },
                                          options.detail(), options.notes);
    return play_on(
        *backend, options, [&] { backend->run(cpu); }, launches);
  }
  const GpuOrReason found = make_gpu_backend();
  if (!gpu || !found.backend) {
    fmt::print(stderr, "{}",
               complaint("play: --device gpu", found.backend ? "built without CUDA" : found.reason));
    return kMachineLacks;
  }
  return play_on(*found.backend, options, [&] { found.backend->run_uncounted(gpu); }, {});
}

}  // namespace

int run_play(int argc, const char* const* argv, void (*cpu)(), void (*gpu)()) {
  // Whole lines are not lost where the reader's code ends the program.
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  int status = kMachineLacks;
  try {
    status = run_checked(argc, argv, cpu, gpu);
    flush_standard_output();
  } catch (const std::exception& error) {  // of the reader's code, play_on() reports
    fmt::print(stderr, "{}", complaint("play", error.what()));
    status = kMachineLacks;
  }
  tell_done();
  return status;
}

}  // namespace workbook
