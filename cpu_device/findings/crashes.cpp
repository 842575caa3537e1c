#include "cpu_device/findings/crashes.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <map>

#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/program_image/source_line.hpp"
#include "cpu_device/program_image/symbols.hpp"
#include "cpu_device/running_thread.hpp"

namespace cpu {
namespace {

/// Where a thread was stopped by a fault, in code of a kernel file.
struct FaultPlace {
  std::uintptr_t instruction;  ///< a return address
  std::size_t calls = 0;       ///< the stack has it so often
};

bool in_kernel_file(std::uintptr_t return_address) {
  const SourceLine& line = source_line(return_address);
  return line.line > 0 && is_kernel_file(line.file);
}

/// The first of the frames that is in a kernel's file, as a return address; 0 if none is. Other words of the
/// stack may be left from earlier calls.
std::uintptr_t first_in_kernel_file(std::span<void* const> frames, std::uintptr_t instruction) {
  for (const void* frame : frames) {
    const auto address = reinterpret_cast<std::uintptr_t>(frame);
    const std::uintptr_t return_address = address == instruction ? address + 1 : address;
    if (in_kernel_file(return_address)) return return_address;
  }
  return 0;
}

/// The fault may be in a function of the device or of a library. Then the first return address on the stack
/// that is one of a kernel's file is the place.
FaultPlace place_of_fault(std::uintptr_t instruction, std::uintptr_t stack_pointer, const Region& stack) {
  const auto* const end = reinterpret_cast<const std::uintptr_t*>(stack.begin + stack.size);
  const auto* const begin = reinterpret_cast<const std::uintptr_t*>(std::max(stack_pointer, stack.begin) &
                                                                    ~(sizeof(std::uintptr_t) - 1));
  FaultPlace place = {instruction};
  const std::uintptr_t* word = begin;
  constexpr int kMostTried = 64;
  for (int tried = 0; word < end && tried < kMostTried && !in_kernel_file(place.instruction); ++word) {
    if (!is_in_function(*word)) continue;
    ++tried;
    if (in_kernel_file(*word)) place.instruction = *word;
  }
  // In the kernel itself the array is at fault; in a function that is on the stack again and again, its
  // calls.
  const Region function = function_region(place.instruction);
  if (!is_in_function(place.instruction)) return place;
  std::map<std::uintptr_t, std::size_t> calls;
  for (word = begin; word < end; ++word)
    if (function.contains(*word)) place.calls = std::max(place.calls, ++calls[*word]);
  return place;
}

}  // namespace

Finding stack_overflow(std::uintptr_t instruction, std::uintptr_t stack_pointer) {
  const FaultPlace place = place_of_fault(instruction + 1, stack_pointer, running().stack);
  const SourceLine& line = source_line(place.instruction);
  const std::string details =
      fmt::format("  {} needs more than {} KiB for its local variables, in {}() at {}", running_thread_name(),
                  kStackBytes / 1024, line.function, place_text(place.instruction));
  const std::string look_at =
      place.calls > 1
          ? fmt::format(
                "{0}() calls itself, here {1} times: does the recursion end? A GPU has 1 KiB for it in "
                "each thread, unless the program asks for more: a loop is better.",
                line.function, place.calls)
          : "a GPU keeps a large local array in device memory, one for each thread: is it needed, or does it "
            "belong in shared memory?";
  return finding_in(running().launch.kernel, {"too many local variables", details, look_at});
}

namespace {

/// What to check after a signal.
const char* crash_hint(int signal) {
  switch (signal) {
    case SIGFPE:
      return "is it a division of the smallest integer by -1, whose quotient is no int?";
    case SIGILL:
      return "is there a __builtin_unreachable() or __builtin_trap(), or code that the compiler knows to "
             "have no "
             "meaning?";
    case SIGABRT:
      return "which function of the host's libraries does the kernel call? It has given up, as after an "
             "exception.";
    default:
      return "is a function called through a null pointer? Or does a function of the host's libraries get a "
             "wrong "
             "pointer?";
  }
}

}  // namespace

Finding crash(int signal, std::uintptr_t instruction, std::uintptr_t stack_pointer) {
  const FaultPlace place = place_of_fault(instruction + 1, stack_pointer, running().stack);
  const SourceLine& line = source_line(place.instruction);
  const std::string details = fmt::format("  {} crashes ({}), in {}() at {}", running_thread_name(),
                                          strsignal(signal), line.function, place_text(place.instruction));
  return finding_in(running().launch.kernel, {"crash in a kernel", details, crash_hint(signal)});
}

namespace {

/// What to check after a signal in host code.
const char* host_crash_hint(int signal) {
  switch (signal) {
    case SIGFPE:
      return "is an integer divided by zero?";
    case SIGABRT:
      return "which check has failed: an assert, or one of the C library's, such as for memory that is "
             "released twice?";
    default:
      return "is a null pointer used, or one to memory that has been released or is too small?";
  }
}

}  // namespace

Finding host_crash(int signal, std::uintptr_t address, std::uintptr_t instruction,
                   std::uintptr_t stack_pointer, std::span<void* const> frames) {
  pthread_attr_t attributes;
  void* stack = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &stack, &size);
    pthread_attr_destroy(&attributes);
  }
  // Near the stack pointer, the address is that of a page for which there is no memory any more.
  constexpr std::uintptr_t kNear = 1 << 20, kPage = 4096;
  const bool overflow = signal == SIGSEGV && address - (stack_pointer - kNear) < 2 * kNear;
  const std::uintptr_t begin =
                           overflow ? std::max(stack_pointer, (address / kPage + 1) * kPage) : stack_pointer,
                       end = reinterpret_cast<std::uintptr_t>(stack) + size;
  // When the stack is full, the frames are those of its end alone.
  const FaultPlace place =
      overflow ? place_of_fault(instruction + 1, begin, {begin, begin < end ? end - begin : 0})
               : FaultPlace{first_in_kernel_file(frames, instruction)};
  const SourceLine& line = source_line(place.instruction);
  if (!in_kernel_file(place.instruction))
    return Finding(fmt::format("crash in host code\n  host code crashes ({})\n  look at: {}",
                               strsignal(signal), host_crash_hint(signal)));
  const std::string look_at =
      overflow ? fmt::format("the stack is full. {}() calls itself, here {} times: does the recursion end?",
                             line.function, place.calls)
               : host_crash_hint(signal);
  return Finding(
      fmt::format("crash in host code: {} ({}:{})\n  host code crashes ({}) at line {}\n  look at: {}",
                  line.function, line.file, line.line, strsignal(signal), line.line, look_at));
}

Finding standing_still(std::uintptr_t instruction, std::uintptr_t stack_pointer, int seconds) {
  const FaultPlace place = place_of_fault(instruction + 1, stack_pointer, running().stack);
  const std::string details = fmt::format(
      "  {} is at {}\n  Still there after {} s without an access, a barrier or another iteration.",
      running_thread_name(), place_text(place.instruction), seconds);
  return finding_in(running().launch.kernel,
                    {"infinite loop", details, "does the condition of the loop ever become false?"});
}

}  // namespace cpu
