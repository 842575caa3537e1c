#include "cpu_device/running/faults.hpp"

#include <execinfo.h>
#include <fmt/format.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include "cpu_device/findings/crashes.hpp"
#include "cpu_device/findings/finding.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/program_image/source_line.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/launch.hpp"

namespace cpu {
namespace {

struct Fault {
  int signal;
  std::uintptr_t address, instruction, stack_pointer;
  // In host code, the functions that were being called, from the handler's on.
  std::array<void*, 64> frames;
  int frame_count;

  /// Whether a thread of a kernel has raised it, in the kernel's code or in what that calls.
  bool in_kernel() const { return grid_runs && device().launch.stacks.contains(stack_pointer); }
  bool is_overflow() const { return signal == SIGSEGV && device().launch.stacks.contains(address); }
  bool is_to_device_memory() const { return signal == SIGSEGV && memory().arena().contains(address); }
};
// The fault of the calling thread: each thread handles its own.
thread_local Fault fault;
thread_local sigjmp_buf* resume_at = nullptr;  // null while nothing is watched
thread_local bool runs_host_code = false;      // between its launches, too

std::uintptr_t instruction_of([[maybe_unused]] const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return context.uc_mcontext.pc;
#else
  return 0;
#endif
}

std::uintptr_t stack_pointer_of([[maybe_unused]] const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return context.uc_mcontext.sp;
#else
  return 0;
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
  fault = {signal,
           reinterpret_cast<std::uintptr_t>(info->si_addr),
           instruction_of(*static_cast<ucontext_t*>(context)),
           stack_pointer_of(*static_cast<ucontext_t*>(context)),
           {},
           0};
  if (runs_host_code && !grid_runs && !fault.is_to_device_memory())
    fault.frame_count = backtrace(fault.frames.data(), static_cast<int>(fault.frames.size()));
  const bool ours = fault.in_kernel() || fault.is_overflow() || fault.is_to_device_memory() ||
                    (runs_host_code && !grid_runs);
  if (ours && resume_at) siglongjmp(*resume_at, 1);
  ::signal(signal, SIG_DFL);  // the program's own mistake: the fault repeats, and ends the program
}

// --- Loops that report nothing ---

/// An empty loop without end is one instruction that jumps to itself. It never calls the device, so
/// StepBudget does not see it. A thread that takes no step for so many ticks of its processor time is in such
/// a loop.
constexpr int kMostTicks = 5;
constexpr int kTickSignal = SIGVTALRM;
constexpr timespec kTick = {.tv_sec = 1, .tv_nsec = 0};

/// Where the calling thread was at its last tick, and for how many ticks.
struct Standstill {
  std::uint64_t launch, block, steps;
  int ticks;
};
thread_local Standstill standstill;

void on_tick(int signal, siginfo_t*, void* context) {
  const Fault seen = {signal,
                      0,
                      instruction_of(*static_cast<ucontext_t*>(context)),
                      stack_pointer_of(*static_cast<ucontext_t*>(context)),
                      {},
                      0};
  if (!resume_at || !seen.in_kernel()) return;
  const Device& d = device();
  const bool same = standstill.launch == d.launch.number && standstill.block == d.block.number &&
                    standstill.steps == d.steps.taken();
  standstill = {d.launch.number, d.block.number, d.steps.taken(), same ? standstill.ticks + 1 : 0};
  if (standstill.ticks < kMostTicks) return;
  standstill = {};
  fault = seen;
  siglongjmp(*resume_at, 1);
}

[[noreturn]] void throw_cannot_watch() { throw std::runtime_error("the CPU device cannot watch for faults"); }

/// While it lives, faults are handled by on_fault.
class Handler {
 public:
  Handler() {
    void* here = nullptr;
    backtrace(&here, 1);  // the first call loads a library, which a handler must not do
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      if (sigaction(kSignals[i], &action, &before_[i]) != 0) throw_cannot_watch();
  }
  ~Handler() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  std::array<struct sigaction, kSignals.size()> before_ = {};
};

/// While it lives, the thread gets on_tick for each second of its processor time.
class Ticks {
 public:
  Ticks() {
    struct sigaction action = {};
    action.sa_sigaction = on_tick;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kTickSignal;
    event._sigev_un._tid = gettid();
    const itimerspec every = {.it_interval = kTick, .it_value = kTick};
    if (sigaction(kTickSignal, &action, nullptr) != 0 ||
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0)
      throw_cannot_watch();
    timer_settime(timer_, 0, &every, nullptr);
  }
  ~Ticks() { timer_delete(timer_); }
  Ticks(const Ticks&) = delete;
  Ticks& operator=(const Ticks&) = delete;

 private:
  timer_t timer_ = {};
};

/// While it lives, the thread handles faults on this stack: its own may be full.
class FaultStack {
 public:
  FaultStack() {
    stack_t alternative = {};
    alternative.ss_sp = stack_;
    alternative.ss_size = sizeof stack_;
    if (sigaltstack(&alternative, &before_) != 0) throw_cannot_watch();
  }
  ~FaultStack() { sigaltstack(&before_, nullptr); }

 private:
  char stack_[64 * 1024];
  stack_t before_ = {};
};

Finding touched_by_host() {
  const SourceLine place = source_line(fault.instruction + 1);
  const Buffer* buffer = memory().nearest(fault.address);
  const std::string what = buffer ? fmt::format("{}[{}]", buffer->name,
                                                (fault.address - buffer->data.begin) / buffer->element_size)
                                  : "device memory";
  return Finding(
      fmt::format("device memory touched by the host: {} ({}:{})\n  host code reads or writes {} at line {}\n"
                  "  look at: only kernels can access arrays on the device: copy to the host what it needs",
                  place.function, place.file, place.line, what, place.line));
}

/// The finding for a fault in a kernel.
Finding finding_of(const Fault& fault) {
  if (fault.signal == kTickSignal) return standing_still(fault.instruction, fault.stack_pointer, kMostTicks);
  if (fault.is_overflow()) return stack_overflow(fault.instruction, fault.stack_pointer);
  return crash(fault.signal, fault.instruction, fault.stack_pointer);
}

}  // namespace

bool ends_without_fault(const std::function<void()>& code) {
  const FaultStack stack;
  const Ticks ticks;
  sigjmp_buf here;
  // The jump skips the frames of the kernel or of a chapter's host code; they own nothing.
  if (sigsetjmp(here, 1) != 0) {
    resume_at = nullptr;
    return false;
  }
  resume_at = &here;
  try {
    code();
  } catch (...) {
    resume_at = nullptr;
    throw;
  }
  resume_at = nullptr;
  return true;
}

void run_host_code(const std::function<void()>& code) {
  const Handler handler;
  const Memory::Access closed(memory(), false);
  run_watched(code);
}

void run_watched(const std::function<void()>& code) {
  runs_host_code = true;
  if (ends_without_fault(code)) return;
  if (grid_runs) memory().set_access(false);  // else it is open for another thread's kernel, if at all
  if (!grid_runs && !fault.is_to_device_memory())
    throw host_crash(fault.signal, fault.address, fault.instruction, fault.stack_pointer,
                     {fault.frames.data(), static_cast<std::size_t>(fault.frame_count)});
  if (!grid_runs) throw touched_by_host();
  const Finding finding = finding_of(fault);
  abandon_launch();
  throw finding;
}

}  // namespace cpu
