#include "cpu/fault.hpp"

#include <fmt/format.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include <array>
#include <stdexcept>

#include "cpu/device.hpp"
#include "cpu/finding.hpp"
#include "cpu/memory.hpp"
#include "cpu/source_line.hpp"
#include "cpu/stop.hpp"

namespace cpu {
namespace {

struct Fault {
  int signal;
  std::uintptr_t address, instruction, stack_pointer;

  /// Whether a thread of a kernel has raised it, in the kernel's code or in what that calls.
  bool in_kernel() const { return grid_runs && device().launch.stacks.contains(stack_pointer); }
  bool is_overflow() const { return signal == SIGSEGV && device().launch.stacks.contains(address); }
  bool is_to_device_memory() const { return signal == SIGSEGV && memory().arena().contains(address); }
};
// The fault of the calling thread: each thread handles its own.
thread_local Fault fault;
thread_local sigjmp_buf* resume_at = nullptr;  // null while nothing is watched

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
  fault = {signal, reinterpret_cast<std::uintptr_t>(info->si_addr),
           instruction_of(*static_cast<ucontext_t*>(context)),
           stack_pointer_of(*static_cast<ucontext_t*>(context))};
  const bool ours = fault.in_kernel() || fault.is_overflow() || fault.is_to_device_memory();
  if (ours && resume_at) siglongjmp(*resume_at, 1);
  ::signal(signal, SIG_DFL);  // the program's own mistake: the fault repeats, and ends the program
}

[[noreturn]] void throw_cannot_watch() { throw std::runtime_error("the CPU device cannot watch for faults"); }

/// While it lives, faults are handled by on_fault.
class Handler {
 public:
  Handler() {
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

}  // namespace

bool ends_without_fault(const std::function<void()>& code) {
  const FaultStack stack;
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
  if (ends_without_fault(code)) return;
  memory().set_access(false);
  if (!grid_runs) throw touched_by_host();
  if (fault.is_overflow()) throw stack_overflow(fault.instruction, fault.stack_pointer);
  throw crash(fault.signal, fault.instruction, fault.stack_pointer);
}

}  // namespace cpu
