#include "play/runtime/run_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <thread>

#include "cpu_device/access.hpp"
#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/finding.hpp"
#include "cpu_device/findings/host_calls.hpp"
#include "cpu_device/findings/launch_limits.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/memory/heap.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/program_image/source_line.hpp"
#include "cpu_device/program_image/symbols.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/faults.hpp"
#include "cpu_device/running/warp_operations.hpp"
#include "harness/backends/backend.hpp"
#include "harness/tables/cards.hpp"
#include "play/play_report.hpp"
#include "play/program/runtime.hpp"
#include "play/runtime/device_pieces.hpp"
#include "play/runtime/gpus.hpp"
#include "play/runtime/graphs.hpp"
#include "play/runtime/memory.hpp"
#include "play/runtime/repeats.hpp"
#include "play/runtime/session.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/plural.hpp"
#include "system/say.hpp"
#include "system/terminal.hpp"

namespace workbook {

Session* session = nullptr;
thread_local cudaError_t last_error = cudaSuccess;

Card& card() {
  static Card of_program = card_for(PlayOptions{}.model);
  return of_program;
}

namespace {

std::optional<std::thread::id> thread_of_ended_main;  // once the session is over

bool same_launch(const LaunchCounts& a, const LaunchCounts& b) {
  const auto same = [](const Dim3& x, const Dim3& y) { return x.x == y.x && x.y == y.y && x.z == y.z; };
  return a.kernel == b.kernel && same(a.grid, b.grid) && same(a.block, b.block) && a.counts == b.counts;
}

void keep(const LaunchCounts& launch) {
  const auto found = std::find_if(session->launches.begin(), session->launches.end(),
                                  [&](const LaunchCounts& one) { return same_launch(one, launch); });
  session->repeats.row() = static_cast<std::size_t>(found - session->launches.begin());
  if (found == session->launches.end())
    session->launches.push_back(launch);
  else
    ++found->times;
}

std::string not_freed() {
  std::string names;
  for (const auto& [address, name] : session->arrays) names += (names.empty() ? "" : ", ") + name;
  return fmt::format("not freed when the program ended: {}", names);
}

/// Prints the report. After it, the session is over.
void report(const std::string& finding, std::string_view note_word) {
  const auto lock = program::lock_device();
  if (!session) return;
  Session& s = *std::exchange(session, nullptr);
  thread_of_ended_main = s.thread;
  std::fflush(stdout);
  if (s.json_output >= 0) dup2(s.json_output, STDOUT_FILENO);
  std::vector<std::string> notes = s.backend->take_notes();
  for (const auto& [library, calls] : s.library_calls)
    notes.push_back(
        fmt::format("{} of {}: computed by the host, and not counted", plural(calls, "call"), library));
  if (s.not_run > 0)
    notes.push_back(fmt::format(
        "{} of {} launches were not run again, because what they do was known from the same launch in the "
        "same memory; the table counts them",
        s.not_run, s.launch_count));
  report_play(s.options, s.backend->info().name, s.launches, {finding, std::string(note_word), notes});
  std::fflush(stdout);
}

}  // namespace

void end_with(const std::string& finding, std::string_view note_word) {
  const auto lock =
      program::lock_device();  // for ever: no other thread may end the program as if all were well
  if (!session) say("{}", complaint("play", finding + "\n  outside of main"));
  report(finding, note_word);
  tell_done();
  std::_Exit(kWrong);
}

namespace {

/// Where something else than the user's main has called exit().
void report_exit(int status, void*) {
  const auto lock = program::lock_device();
  if (!session) return;
  std::fflush(stdout);
  if (status != 0) say("\nThe program ended itself with status {}.\n", status);
  report("", "");
  tell_done();
  std::_Exit(status == 0 ? kDone : kWrong);
}

}  // namespace
}  // namespace workbook

// --- Launches ---

namespace program {

using workbook::session;

DeviceLock lock_device() {
  static std::recursive_mutex mutex;
  return DeviceLock(mutex);
}
DeviceLock use_device(const char* what) {
  DeviceLock lock = lock_device();
  if (session) return lock;
  const auto& of_main = workbook::thread_of_ended_main;
  if (of_main && *of_main != std::this_thread::get_id()) {  // it ends when the program does
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::seconds(20));  // not for ever: a destructor may wait for it
    lock.lock();
  }
  workbook::say("{}", workbook::complaint(
                          "play", fmt::format("{} outside of main: the CPU device is not there then", what)));
  workbook::tell_done();
  std::_Exit(workbook::kWrong);
}

void refuse_call(const std::string& title, const std::string& details, const std::string& look_at,
                 const Place& place) {
  std::string where = fmt::format("{}:{}", place.file ? place.file : "", place.line);
  if (place.caller) {
    const cpu::SourceLine line = cpu::source_line(reinterpret_cast<std::uintptr_t>(place.caller));
    where = fmt::format("{} ({}:{})", line.function, line.file, line.line);
  }
  workbook::end_with(fmt::format("{}: {}\n  {}\n  look at: {}", title, where, details, look_at));
}

void count_library_call(const char* library) {
  const auto lock = use_device(library);
  ++session->library_calls[library];
}

namespace {

/// As on a GPU, a kernel has more than 48 KiB of shared memory only where the program has asked for it.
void require_shared_bytes(const cpu::Launch& launch) {
  if (launch.shared_bytes == 0) return;
  const std::size_t most = allowed_shared_bytes(launch.kernel);
  if (launch.shared_bytes <= most || launch.shared_bytes > cpu::card_limits().most_shared_bytes) return;
  throw cpu::finding_in(
      launch.kernel,
      {"launch refused",
       fmt::format("  {} bytes of dynamic shared memory: this kernel has {}", launch.shared_bytes, most),
       "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), which must come "
       "before the launch. CUDA returns cudaErrorInvalidValue"});
}

/// Runs a kernel on a GPU for the launch at `place`. A finding ends the program.
void run(const cpu::Launch& launch, const Arguments& arguments, int gpu, const Place& place) {
  const auto lock = use_device("a launch");
  show_variables_of(gpu);
  cpu::device().gpu = static_cast<unsigned>(gpu);
  workbook::Session& s = *session;
  const auto work_besides = [] {
    return cpu::device().printed.bytes + cpu::heap().changes() + condition_changes() + clock_calls();
  };
  const auto run_once = [&] {
    const std::size_t before = work_besides();
    cpu::run(launch);
    require_access(gpu, place);
    return work_besides() != before;
  };
  const auto run_unless_known = [&] {
    workbook::DevicePieces memory;
    if (s.lost_accesses != lost_accesses()) s.repeats.clear();
    s.lost_accesses = lost_accesses();
    if (s.repeats.run(launch, arguments, gpu, memory, run_once)) return;
    ++s.launches[s.repeats.row()].times;
    ++s.not_run;
  };
  try {
    require_shared_bytes(launch);
    if (s.thread == std::this_thread::get_id())
      run_unless_known();
    else
      cpu::run_watched(run_unless_known);
  } catch (const cpu::Finding& found) {
    workbook::end_with(found.what(), found.note_word);
  }
  const int most = s.options.launches;
  if (++s.launch_count != most) return;
  std::fflush(stdout);
  workbook::say("\nThe program was ended after {} launch{} (--launches).\n", most, most == 1 ? "" : "es");
  workbook::report("", "");
  workbook::tell_done();
  std::_Exit(workbook::kDone);
}

/// A launch that waits, with arguments of its own.
struct KeptLaunch {
  cpu::Launch launch;
  std::shared_ptr<void> closure;
  std::optional<std::string> arguments;

  KeptLaunch(const cpu::Launch& given, const Arguments& bytes) : launch(given) {
    constexpr size_t kAlignment = 256;
    const size_t size = (launch.closure_bytes / kAlignment + 1) * kAlignment;
    closure = std::shared_ptr<void>(std::aligned_alloc(kAlignment, size), std::free);
    std::memcpy(closure.get(), launch.closure, launch.closure_bytes);
    launch.closure = closure.get();
    if (bytes.bytes) arguments = std::string(static_cast<const char*>(bytes.bytes), bytes.size);
  }
  Arguments given() const {
    return arguments ? Arguments{arguments->data(), arguments->size()} : Arguments{};
  }
};

}  // namespace

void launch(const cpu::Launch& launch, const Arguments& arguments, cudaStream_t stream, const char* file,
            int line) {
  const int gpu = current_gpu();
  const Place place = {file, line};
  std::function<void()> work = [&] { run(launch, arguments, gpu, place); };
  if (is_captured(stream))
    work = [kept = KeptLaunch(launch, arguments), gpu, place] { run(kept.launch, kept.given(), gpu, place); };
  enqueue("this launch", stream, cudaGraphNodeTypeKernel, work, place);
}

cudaError_t allow_shared_bytes(const void* kernel, int bytes) {
  const auto lock = use_device("cudaFuncSetAttribute");
  const std::size_t own = cpu::static_shared_bytes(kernel), wanted = static_cast<std::size_t>(bytes);
  if (bytes < 0 || own + wanted > cpu::card_limits().most_shared_bytes)
    return workbook::last_error = cudaErrorInvalidValue;
  session->dynamic_shared_bytes[kernel] = wanted;
  return cudaSuccess;
}
std::size_t allowed_shared_bytes(const void* kernel) {
  const auto lock = use_device("cudaFuncGetAttributes");
  const auto allowed = session->dynamic_shared_bytes.find(kernel);
  if (allowed != session->dynamic_shared_bytes.end()) return allowed->second;
  const std::size_t own = cpu::static_shared_bytes(kernel);
  return cpu::kMostStaticSharedBytes - std::min(own, cpu::kMostStaticSharedBytes);
}

int compute_capability() { return workbook::card().chip.capability; }

void refuse(const char* what, const char* file, int line) {
  if (!cpu::grid_runs)
    workbook::end_with(fmt::format("{} in host code ({}:{}): it is not there", what, file, line));
  cpu::stop_launch({"unsupported instruction", fmt::format("  {} at {}", what, cpu::place_text(file, line)),
                    "the CPU device runs CUDA C++ without it: which other functions of CUDA do the same?"});
}

void add_variable(const char* name, const void* address, size_t bytes, size_t element_size) {
  cpu::memory().adopt({reinterpret_cast<std::uintptr_t>(address), bytes}, name, element_size);
}

namespace {
std::atomic<std::size_t> all_clock_calls = 0;
}
std::size_t clock_calls() { return all_clock_calls; }

long long clock() {
  ++all_clock_calls;
  static thread_local long long cycles = 0;  // of the core that runs the block
  cpu::device().steps.interrupt();           // a loop that reads the time goes on
  return cycles += 1000;
}

}  // namespace program

// --- The program ---

namespace workbook {
namespace {

int run_main(Session& s, int (*main)(int, char**, char**)) {
  std::vector<char*> arguments = {s.options.file.data()};
  for (std::string& each : s.options.arguments) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  int status = 0;
  std::string finding, note_word;
  try {
    s.backend->run([&] {
      s.in_main = true;
      if (setjmp(s.end_of_main) == 0)
        status = main(static_cast<int>(arguments.size()) - 1, arguments.data(), environ);
      s.in_main = false;
    });
  } catch (const cpu::Finding& found) {
    finding = found.what();
    note_word = found.note_word;
  } catch (const std::exception& error) {
    finding = fmt::format("main ended with an exception: {}", error.what());
  } catch (...) {
    finding = "main ended with an exception that is no std::exception";
  }
  std::fflush(stdout);
  if (s.exit_status) status = *s.exit_status;
  if (finding.empty() && status != 0)
    say("\n{} {}.\n", s.exit_status ? "The program ended itself with status" : "main returned", status);
  const std::string leak =
      s.arrays.empty() || !finding.empty() || status != 0 || s.options.json ? "" : not_freed();
  report(finding, note_word);
  if (!leak.empty()) fmt::print("\n{}", wrapped(leak, 0));
  return finding.empty() && status == 0 ? kDone : kWrong;
}

}  // namespace

/// The user's exit(): main ends here, as its return would, so that the report can still use all static
/// objects.
extern "C" [[noreturn]] void program_exit(int status) {
  cpu::refuse_end_in_kernel("exit()", CALLER);
  const bool ends_main = session && session->in_main && session->thread == std::this_thread::get_id();
  if (!ends_main) std::exit(status);
  session->exit_status = status;
  std::longjmp(session->end_of_main, 1);
}

int run_program(int argc, const char* const* argv, int (*main)(int, char**, char**)) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  static Session s;
  s.options.is_program = true;
  int status = kMachineLacks;
  try {
    if (const std::optional<ExitStatus> refused = parse_play_options(argc, argv, s.options)) {
      status = *refused;
    } else if (s.options.device != DeviceKind::kCpu) {
      throw UsageError(
          "a file with a main of its own runs on the CPU device; on a GPU, compile it with nvcc");
    } else {
      cpu::set_ended_lanes_excused(true);
      s.backend = make_cpu_backend(keep, s.options.detail(), s.options.notes);
      session = &s;
      program::make_gpus(s.options.gpus);
      card() = card_for(s.options.model);
      cpu::set_card_limits(limits_of(card()));
      if (s.options.json) {
        s.json_output = dup(STDOUT_FILENO);
        dup2(STDERR_FILENO, STDOUT_FILENO);
      } else {
        fmt::print("{}, {}\n", printable(s.options.file), s.backend->info().name);
      }
      on_exit(report_exit, nullptr);
      status = run_main(s, main);
    }
    flush_standard_output();
  } catch (const UsageError& error) {
    say("{}", complaint("play", error.what()));
    status = kBadUsage;
  } catch (const std::exception& error) {
    say("{}", complaint("play", error.what()));
  }
  tell_done();
  return status;
}

}  // namespace workbook
