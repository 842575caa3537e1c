#include "cpu/stop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cpu/cores.hpp"
#include "cpu/device.hpp"
#include "cpu/grid.hpp"
#include "cpu/names.hpp"
#include "cpu/notes.hpp"
#include "cpu/scheduler.hpp"
#include "cpu/source_line.hpp"
#include "cpu/symbols.hpp"

namespace cpu {
namespace {

/// The mistake of a launch that could go on after it.
Mistake with_way_on(Mistake mistake) {
  mistake.can_go_on = true;
  return mistake;
}

/// Where a stack overflowed, in code of a kernel file.
struct Overflow {
  std::uintptr_t instruction;  ///< a return address
  std::size_t calls = 0;       ///< the stack has it so often
};

/// The stack may have overflowed in a function of the device. Then the first return address on it that is one
/// of a kernel's file is the place.
Overflow place_of_overflow(std::uintptr_t instruction, std::uintptr_t stack_pointer, const Region& stack) {
  const auto in_kernel_file = [](std::uintptr_t address) {
    const SourceLine& line = source_line(address);
    return line.line > 0 && line.file.find("common/cpu/") == std::string::npos;
  };
  const auto* const end = reinterpret_cast<const std::uintptr_t*>(stack.begin + stack.size);
  const auto* const begin = reinterpret_cast<const std::uintptr_t*>(std::max(stack_pointer, stack.begin) &
                                                                    ~(sizeof(std::uintptr_t) - 1));
  Overflow place = {instruction};
  const std::uintptr_t* word = begin;
  constexpr int kMostTried = 64;  // each takes a call of addr2line
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

void stop_launch(const Mistake& mistake) { scheduler().stop(mistake); }

void throw_finding(const Mistake& mistake) {
  if (device().worker) throw PartStopped();
  throw finding_in(device().launch.kernel, mistake);
}

void stop_or_note(const Mistake& mistake) {
  if (!notes().wanted(mistake.kind)) stop_launch(with_way_on(mistake));
  note(mistake);
}

void throw_or_note(const Mistake& mistake) {
  if (!notes().wanted(mistake.kind)) throw_finding(with_way_on(mistake));
  note(mistake);
}

Finding stack_overflow(std::uintptr_t instruction, std::uintptr_t stack_pointer) {
  const Overflow place = place_of_overflow(instruction + 1, stack_pointer, device().block.stack);
  abandon_launch();
  const SourceLine& line = source_line(place.instruction);
  const std::string details =
      fmt::format("  {} needs more than {} KiB for its local variables, in {}() at {}", running_thread_name(),
                  Fibers::kStackBytes / 1024, line.function, place_text(place.instruction));
  const std::string look_at =
      place.calls > 1
          ? fmt::format(
                "{0}() calls itself, here {1} times: does the recursion end? A GPU has 1 KiB for it in "
                "each thread, unless the program asks for more: a loop is better.",
                line.function, place.calls)
          : "a GPU keeps a large local array in device memory, one for each thread: is it needed, or does it "
            "belong in shared memory?";
  return finding_in(device().launch.kernel, {"too many local variables", details, look_at});
}

}  // namespace cpu
