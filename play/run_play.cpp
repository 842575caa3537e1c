#include "play/run_play.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "cpu_device/findings/finding.hpp"
#include "harness/backends/backend.hpp"
#include "play/play_report.hpp"
#include "play_memory.hpp"
#include "system/errors.hpp"
#include "system/exit_status.hpp"
#include "system/files.hpp"
#include "system/plural.hpp"
#include "system/say.hpp"
#include "system/terminal.hpp"

namespace workbook {
namespace {

Backend* device = nullptr;  // the device that play() runs on; null outside of it
bool prints_json = false;   // what play() prints goes to standard error then

/// At the program's end: says so if the reader's code has ended it, which is a mistake whatever its status.
void report_exit() {
  if (!device) return;
  fflush(stdout);
  say("\nThe program ended itself: does your file call exit?\n");
  tell_done();
  std::_Exit(kWrong);
}

/// Runs the reader's code with `run`, which appends to `launches`, and reports. Returns kDone, or kWrong when
/// something was found.
ExitStatus play_on(Backend& backend, const PlayOptions& options, const std::function<void()>& run,
                   const std::vector<LaunchCounts>& launches) {
  const std::string name = backend.info().name;
  device = &backend;
  prints_json = options.json;
  if (!options.json) fmt::print("{}, {}\n", printable(options.file), name);
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
  report_play(options, name, launches, {finding, note_word, backend.take_notes()});
  return finding.empty() ? kDone : kWrong;
}

}  // namespace

namespace play {

void* allocate(const char* name, long long count, size_t element_size) {
  if (!name) throw std::invalid_argument("an Array has no name: its first argument is a null pointer");
  if (!device) {  // before main, where nobody would catch an exception
    say("{}",
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
  std::string line = fmt::format("{}:", name);
  for (int i = 0; i < printed; ++i) line += fmt::format(" {:g}", first[i]);
  line += printed < count ? " ...\n" : "\n";
  if (prints_json)
    say("{}", line);
  else
    fmt::print("{}", line);
}

}  // namespace play

namespace {

int run_checked(int argc, const char* const* argv, void (*cpu)(), void (*gpu)()) {
  PlayOptions options;
  if (const std::optional<ExitStatus> status = parse_play_options(argc, argv, options)) return *status;
  if (options.device == DeviceKind::kCpu) {
    std::vector<LaunchCounts> launches;
    const auto backend = make_cpu_backend([&](const LaunchCounts& launch) { launches.push_back(launch); },
                                          options.detail(), options.notes);
    return play_on(
        *backend, options, [&] { backend->run(cpu); }, launches);
  }
  const GpuOrReason found = make_gpu_backend();
  if (!gpu || !found.backend) {
    say("{}", complaint("play: --device gpu", found.backend ? "built without CUDA" : found.reason));
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
    say("{}", complaint("play", error.what()));
    status = kMachineLacks;
  }
  tell_done();
  return status;
}

}  // namespace workbook
