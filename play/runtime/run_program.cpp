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
#include "cpu_device/program_image/segments.hpp"
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
#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/plural.hpp"
#include "system/say.hpp"
#include "system/terminal.hpp"

namespace workbook {
namespace {

/// The run of the user's program.
struct Session {
  PlayOptions options;
  std::vector<LaunchCounts> launches;
  std::unique_ptr<Backend> backend;
  std::map<void*, std::string> arrays;                      ///< that are not freed, and their names
  std::map<std::string, int> library_calls;                 ///< that the host has computed
  std::map<const void*, std::size_t> dynamic_shared_bytes;  ///< that cudaFuncSetAttribute() allows a kernel
  Repeats repeats;
  std::size_t lost_accesses = 0;  ///< of GPUs, when the repeats were cleared
  int launch_count = 0, not_run = 0;
  std::thread::id thread = std::this_thread::get_id();  ///< that runs main
  std::jmp_buf end_of_main;                             ///< where exit() goes
  std::optional<int> exit_status;                       ///< where it was called
  bool in_main = false;
  int json_output = -1;  ///< with --json, standard output as it was: the program's goes to standard error
};
Session* session = nullptr;                           // null outside of a run
std::optional<std::thread::id> thread_of_ended_main;  // once the session is over
thread_local cudaError_t last_error = cudaSuccess;

/// Whose properties the program sees.
Card& card() {
  static Card of_program = card_for(PlayOptions{}.model);
  return of_program;
}

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

/// Ends the program with the report: the user's code must not catch what was found.
[[noreturn]] void end_with(const std::string& finding, std::string_view note_word = "") {
  const auto lock =
      program::lock_device();  // for ever: no other thread may end the program as if all were well
  if (!session) say("{}", complaint("play", finding + "\n  outside of main"));
  report(finding, note_word);
  tell_done();
  std::_Exit(kWrong);
}

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

// --- Memory ---

namespace program {
namespace {

using workbook::plural;
using workbook::session;

/// The array that an address of device memory is in or near; null where it is the host's, as behind a
/// variable of the device.
const cpu::Buffer* array_of(const void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const bool in_arena = cpu::memory().arena().contains(number);
  if (!in_arena && !cpu::memory().adopted().contains(number) && !cpu::memory().near_host_array(number))
    return nullptr;
  const cpu::Buffer* array = cpu::memory().nearest(number);
  return in_arena || (array && array->data.contains(number)) ? array : nullptr;
}

}  // namespace

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

void require_inside(const char* call, const char* does, const void* address, size_t bytes,
                    const void* caller) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  if (const std::string* name = cpu::memory().released_at(begin))
    refuse_call("freed memory", fmt::format("{} {} {}, which has been freed", call, does, *name),
                "is cudaFree called too early, or the pointer used too late?", caller);
  const cpu::Buffer* array = array_of(address);
  if (!array || bytes == 0) return;
  const cpu::Region& data = array->data;
  if (begin >= data.begin && begin + bytes <= data.begin + data.size) return;
  const long long offset = static_cast<long long>(begin - data.begin);
  refuse_call(
      "copy out of bounds",
      fmt::format("{} {} {} of {}{}, which has {}", call, does, plural(static_cast<long long>(bytes), "byte"),
                  array->name, offset ? fmt::format(" from byte {} on", offset) : "",
                  plural(static_cast<long long>(data.size), "byte")),
      "are the sizes in bytes, and those of the allocation?", caller);
}

void count_library_call(const char* library) {
  const auto lock = use_device(library);
  ++session->library_calls[library];
}

cudaError_t allocate_named(void** address, size_t bytes, const char* name, size_t element_size, int gpu) {
  const auto lock = use_device("an allocation");
  if (session->backend->footprint(bytes) > session->backend->free_bytes())
    return workbook::last_error = cudaErrorMemoryAllocation;
  *address = session->backend->allocate(bytes, 0, name, element_size, gpu);
  session->arrays[*address] = name;
  return cudaSuccess;
}

void release(const char* call, void* address, const Place& place) {
  const auto lock = lock_device();
  if (!address || !session) return;
  if (session->arrays.erase(address) == 0) {
    const std::string* name = cpu::memory().released_at(reinterpret_cast<std::uintptr_t>(address));
    refuse_call("wrong free",
                name ? fmt::format("{} frees {}, which has been freed before", call, *name)
                     : fmt::format("{} gets an address that no allocation has returned", call),
                "is it the pointer from cudaMalloc, unchanged, and freed once?", place);
  }
  if (!give_back(address)) session->backend->release(address);
}

bool is_allocated(void* address) { return session->arrays.contains(address); }
void set_allocated(void* address, const std::string& name, bool allocated) {
  if (allocated)
    session->arrays[address] = name;
  else
    session->arrays.erase(address);
}

void copy_bytes(const char* call, void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                const void* caller) {
  if (bytes == 0) return;
  const auto lock = use_device("a copy");
  show_variables_of(current_gpu());
  require_inside(call, "writes", to, bytes, caller);
  require_inside(call, "reads", from, bytes, caller);
  const cpu::Buffer *target = array_of(to), *source = array_of(from);
  const auto only_device = [](const cpu::Buffer* array) { return array && !array->shared_with_host; };
  const bool wants_device_source = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool wants_device_target = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault) {
    const auto check_side = [&](const char* side, const cpu::Buffer* array, bool wants_device) {
      if (wants_device ? array != nullptr : !only_device(array)) return;
      refuse_call(
          "wrong direction of a copy",
          fmt::format("{}: its {} is {}, but its last argument says {} memory", call, side,
                      array ? fmt::format("{} in device memory", array->name) : "host memory",
                      wants_device ? "device" : "host"),
          "does the last argument name the direction, and do the first two come in the order (to, from)?",
          caller);
    };
    check_side("source", source, wants_device_source);
    check_side("destination", target, wants_device_target);
  }
  const cpu::Memory::Access open(cpu::memory(), true);
  std::memmove(to, from, bytes);
  if (target) cpu::memory().set_initialised(to, bytes, true);
}

void copy_box(const char* call, const cudaMemcpy3DParms& copy, const void* caller) {
  if (copy.srcArray || copy.dstArray)
    refuse_call("not supported", fmt::format("{} copies from or to a cudaArray", call),
                "textures are not supported: use memory from cudaMalloc", caller);
  const auto row = [](const cudaPitchedPtr& box, const cudaPos& at, size_t y, size_t z) {
    return static_cast<char*>(box.ptr) + ((at.z + z) * box.ysize + at.y + y) * box.pitch + at.x;
  };
  for (size_t z = 0; z < copy.extent.depth; ++z)
    for (size_t y = 0; y < copy.extent.height; ++y)
      copy_bytes(call, row(copy.dstPtr, copy.dstPos, y, z), row(copy.srcPtr, copy.srcPos, y, z),
                 copy.extent.width, copy.kind, caller);
}

/// The copy that cudaMemcpy2D() describes.
static cudaMemcpy3DParms plane(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                               size_t height, cudaMemcpyKind kind) {
  return {.srcArray = nullptr,
          .srcPos = {},
          .srcPtr = {const_cast<void*>(from), from_pitch, width, height},
          .dstArray = nullptr,
          .dstPos = {},
          .dstPtr = {to, to_pitch, width, height},
          .extent = {width, height, 1},
          .kind = kind};
}

void fill_rows(const char* call, const cudaMemsetParams& fill, const void* caller) {
  const auto lock = use_device("a memset");
  show_variables_of(current_gpu());
  std::vector<char> row(fill.width * fill.elementSize);
  for (size_t i = 0; i < fill.width; ++i)
    std::memcpy(&row[i * fill.elementSize], &fill.value, fill.elementSize);
  for (size_t y = 0; y < fill.height; ++y) {
    char* const to = static_cast<char*>(fill.dst) + y * fill.pitch;
    require_inside(call, "writes", to, row.size(), caller);
    if (!array_of(to) && !row.empty())
      refuse_call("not device memory", fmt::format("{} gets an address of host memory", call),
                  "is it the pointer that cudaMalloc has set?", caller);
    session->backend->upload(to, row.data(), row.size());
  }
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

cudaError_t allocate(void** address, size_t bytes, const char* name, size_t element_size) {
  require_no_capture("cudaMalloc",
                     "allocate before cudaStreamBeginCapture, or capture with cudaStreamCaptureModeRelaxed",
                     CALLER, true);
  return allocate_named(address, bytes, name, element_size, current_gpu());
}
cudaError_t allocate_managed(void** address, size_t bytes, const char* name, size_t element_size) {
  const auto lock = use_device("an allocation");
  const cudaError_t error = allocate_named(address, bytes, name, element_size, current_gpu());
  if (error == cudaSuccess) cpu::memory().share_with_host(*address);
  return error;
}

cudaError_t register_host(void* memory, size_t bytes, const char* name, size_t element_size) {
  const auto lock = use_device("cudaHostRegister");
  if (bytes == 0) return cudaErrorInvalidValue;
  if (!cpu::memory().add_host_array({reinterpret_cast<std::uintptr_t>(memory), bytes}, name, element_size))
    refuse_call("not supported",
                fmt::format("cudaHostRegister gets {}, which shares a page of 4096 bytes with another array "
                            "that kernels may use",
                            name),
                "allocate it with aligned_alloc(4096, ...) or cudaMallocHost, and register it once", CALLER);
  return cudaSuccess;
}
void* mapped(void* host) {
  const auto lock = use_device("cudaHostGetDevicePointer");
  const cpu::Buffer* const array = array_of(host);
  if (!array || !array->shared_with_host)
    refuse_call("not mapped", "cudaHostGetDevicePointer gets memory that kernels cannot use",
                "is it from cudaHostAlloc, cudaMallocHost or cudaMallocManaged, or registered with "
                "cudaHostRegister before?",
                CALLER);
  return host;
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

cudaError_t cudaFree(void* device) {
  program::release("cudaFree", device, CALLER);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* host) {
  program::release("cudaFreeHost", host, CALLER);
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* host) {
  const auto lock = program::use_device("cudaHostUnregister");
  if (!cpu::memory().remove_host_array(host))
    program::refuse_call("wrong free", "cudaHostUnregister gets memory that is not registered",
                         "is it the address that cudaHostRegister got, and given once?", CALLER);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  program::require_default_stream("cudaMemcpy", CALLER);
  program::copy_bytes("cudaMemcpy", to, from, bytes, kind, CALLER);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const char* const call = "cudaMemcpyAsync";
  const void* const caller = CALLER;
  program::enqueue(
      call, stream, cudaGraphNodeTypeMemcpy,
      [=] { program::copy_bytes(call, to, from, bytes, kind, caller); }, caller);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
  program::require_default_stream("cudaMemcpy2D", CALLER);
  program::copy_box("cudaMemcpy2D", program::plane(to, to_pitch, from, from_pitch, width, height, kind),
                    CALLER);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  const char* const call = "cudaMemcpy2DAsync";
  const void* const caller = CALLER;
  program::enqueue(
      call, stream, cudaGraphNodeTypeMemcpy,
      [=, copy = program::plane(to, to_pitch, from, from_pitch, width, height, kind)] {
        program::copy_box(call, copy, caller);
      },
      caller);
  return cudaSuccess;
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
  program::require_default_stream("cudaMemcpy3D", CALLER);
  program::copy_box("cudaMemcpy3D", *copy, CALLER);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* device, int value, size_t bytes) {
  program::require_default_stream("cudaMemset", CALLER);
  program::fill_rows("cudaMemset", {device, 0, static_cast<unsigned>(value), 1, bytes, 1}, CALLER);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* device, int value, size_t bytes, cudaStream_t stream) {
  const char* const call = "cudaMemsetAsync";
  const cudaMemsetParams fill = {device, 0, static_cast<unsigned>(value), 1, bytes, 1};
  const void* const caller = CALLER;
  program::enqueue(
      call, stream, cudaGraphNodeTypeMemset, [=] { program::fill_rows(call, fill, caller); }, caller);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* all_bytes) {
  const auto lock = program::use_device("cudaMemGetInfo");
  *free_bytes = *all_bytes = workbook::session->backend->free_bytes();
  return cudaSuccess;
}

// --- Errors ---

namespace {

struct ErrorRow {
  cudaError_t error;
  const char *name, *text;
};
constexpr ErrorRow kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints specific to "
     "instantiated graph update"},
};

const ErrorRow& row_of(cudaError_t error) {
  static const ErrorRow unknown = {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"};
  for (const ErrorRow& row : kErrors)
    if (row.error == error) return row;
  return unknown;
}

}  // namespace

const char* cudaGetErrorString(cudaError_t error) { return row_of(error).text; }
const char* cudaGetErrorName(cudaError_t error) { return row_of(error).name; }
cudaError_t cudaGetLastError() { return std::exchange(workbook::last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return workbook::last_error; }

// --- The device ---

cudaError_t cudaDeviceReset() { return cudaSuccess; }
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t bytes) {
  if (limit == cudaLimitMallocHeapSize) cpu::heap().set_limit(bytes);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(size_t* bytes, cudaLimit limit) {
  *bytes = limit == cudaLimitMallocHeapSize ? cpu::heap().limit() : 1024;
  return cudaSuccess;
}

/// Those of --model, but for the memory, which is this machine's.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!program::is_gpu(device)) return cudaErrorInvalidDevice;
  const workbook::Card& card = workbook::card();
  const cpu::CardLimits& limits = cpu::card_limits();
  cudaDeviceProp p = {};
  std::snprintf(p.name, sizeof p.name, "CPU device (as %s)", card.full_name);
  p.totalGlobalMem = workbook::session ? workbook::session->backend->free_bytes() : size_t{1} << 32;
  p.sharedMemPerBlock = cpu::kMostStaticSharedBytes;
  p.sharedMemPerBlockOptin = limits.most_shared_bytes;
  p.sharedMemPerMultiprocessor = limits.shared_bytes;
  p.totalConstMem = 65536;
  p.memPitch = 2147483647;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 2147483647;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.clockRate = 1000 * card.chip.clock_mhz;
  p.major = card.chip.capability / 10;
  p.minor = card.chip.capability % 10;
  p.multiProcessorCount = limits.multiprocessors;
  p.memoryBusWidth = card.chip.bus_bits;
  p.memoryClockRate = static_cast<int>(1e6 * card.gbytes_per_s / (2 * card.chip.bus_bits / 8));
  p.l2CacheSize = card.chip.l2_mib << 20;
  p.maxThreadsPerMultiProcessor = static_cast<int>(limits.threads);
  p.maxBlocksPerMultiProcessor = static_cast<int>(limits.blocks);
  p.canMapHostMemory = p.concurrentKernels = p.asyncEngineCount = p.unifiedAddressing = p.managedMemory = 1;
  p.concurrentManagedAccess = p.deviceOverlap = p.memoryPoolsSupported = p.hostRegisterSupported = 1;
  p.cooperativeLaunch = 1;
  p.persistingL2CacheMaxSize = p.major >= 8 ? p.l2CacheSize / 8 * 5 : 0;  // as A100, H100 and RTX 4090 say
  p.accessPolicyMaxWindowSize = 134217728;
  p.pciBusID = device;
  *properties = p;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (const cudaError_t error = cudaGetDeviceProperties(&p, device)) return error;
  const struct {
    cudaDeviceAttr attribute;
    long long value;
  } rows[] = {
      {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
      {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
      {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
      {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
      {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
      {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
      {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
      {cudaDevAttrMaxSharedMemoryPerBlock, static_cast<long long>(p.sharedMemPerBlock)},
      {cudaDevAttrTotalConstantMemory, static_cast<long long>(p.totalConstMem)},
      {cudaDevAttrWarpSize, p.warpSize},
      {cudaDevAttrMaxPitch, static_cast<long long>(p.memPitch)},
      {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
      {cudaDevAttrClockRate, p.clockRate},
      {cudaDevAttrGpuOverlap, p.deviceOverlap},
      {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
      {cudaDevAttrKernelExecTimeout, p.kernelExecTimeoutEnabled},
      {cudaDevAttrIntegrated, p.integrated},
      {cudaDevAttrCanMapHostMemory, p.canMapHostMemory},
      {cudaDevAttrComputeMode, p.computeMode},
      {cudaDevAttrConcurrentKernels, p.concurrentKernels},
      {cudaDevAttrEccEnabled, p.ECCEnabled},
      {cudaDevAttrMemoryClockRate, p.memoryClockRate},
      {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
      {cudaDevAttrL2CacheSize, p.l2CacheSize},
      {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
      {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
      {cudaDevAttrUnifiedAddressing, p.unifiedAddressing},
      {cudaDevAttrComputeCapabilityMajor, p.major},
      {cudaDevAttrComputeCapabilityMinor, p.minor},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, static_cast<long long>(p.sharedMemPerMultiprocessor)},
      {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
      {cudaDevAttrManagedMemory, p.managedMemory},
      {cudaDevAttrHostNativeAtomicSupported, p.hostNativeAtomicSupported},
      {cudaDevAttrPageableMemoryAccess, p.pageableMemoryAccess},
      {cudaDevAttrConcurrentManagedAccess, p.concurrentManagedAccess},
      {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<long long>(p.sharedMemPerBlockOptin)},
      {cudaDevAttrMemoryPoolsSupported, p.memoryPoolsSupported}};
  const auto* const row = std::find_if(std::begin(rows), std::end(rows),
                                       [&](const auto& one) { return one.attribute == attribute; });
  if (row == std::end(rows)) return cudaErrorInvalidValue;
  *value = static_cast<int>(row->value);
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

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
