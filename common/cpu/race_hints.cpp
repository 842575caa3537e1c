#include "cpu/race_hints.hpp"

#include <fmt/format.h>

#include <utility>

#include "cpu/device.hpp"
#include "cpu/names.hpp"
#include "cpu/scheduler.hpp"
#include "cpu/source_line.hpp"

namespace cpu {
namespace {

bool names_syncwarp = true;

/// Whether the order of two lines is the order in which an iteration passes them.
bool in_one_function(const SourceLine& one, const SourceLine& other) {
  return one.file == other.file && one.function == other.function;
}

/// Whether the instruction of a barrier, if it is not 0, is in a line between two others.
bool is_between(std::uintptr_t instruction, const SourceLine& first, const SourceLine& last) {
  if (!instruction) return false;
  const SourceLine& barrier = source_line(instruction);
  return in_one_function(barrier, first) && in_one_function(barrier, last) && first.line < barrier.line &&
         barrier.line < last.line;
}

/// The hint for accesses in one line: by one iteration of a loop and the next, or by one execution of it.
std::string missing_in_line(const std::string& line, const std::string& barrier, bool both_store) {
  if (both_store)
    return fmt::format(
        "do several threads write the same element at {}? Let one of them do it, or use an atomic. If they "
        "write it in different iterations of a loop, {} is missing between the iterations.",
        line, barrier);
  return fmt::format(
      "if {} is in a loop, is {} missing between one iteration and the next? If a single iteration reads "
      "what another thread writes: should that thread write at all? If so, read into a variable, pass the "
      "barrier, then write.",
      line, barrier);
}

}  // namespace

void set_names_syncwarp(bool names) { names_syncwarp = names; }

std::string missing_barrier(const RacingAccess& one, const RacingAccess& other, Needs needs) {
  const std::string barrier = needs == Needs::kBlock || !names_syncwarp ? "a __syncthreads()"
                              : needs == Needs::kWarp
                                  ? "a __syncwarp()"
                                  : "a __syncthreads() (or a __syncwarp(), if no other warp uses the array)";
  if (!one.instruction || !other.instruction)
    return fmt::format("is {} missing between the two accesses, or between two iterations of a loop?",
                       barrier);
  if (same_line(one.instruction, other.instruction))
    return missing_in_line(place_text(one.instruction), barrier, both_store(one, other));
  // The threads of a block run one after another here, so which of the two ran first says nothing.
  std::uintptr_t first = one.instruction, last = other.instruction;
  if (source_line(last).line < source_line(first).line) std::swap(first, last);
  const std::string from = place_text(first), to = place_text(last);
  const std::uintptr_t waiting = scheduler().waiting_at(), passed = device().block.last_barrier;
  const bool passed_between = is_between(passed, source_line(first), source_line(last));
  if (is_between(waiting, source_line(first), source_line(last)) && !passed_between)
    return fmt::format(
        "threads wait at the barrier at {}, and others have gone on to {} without it: is the barrier inside "
        "an `if`? All threads of the block must reach it.",
        place_text(waiting), to);
  if (passed_between)
    return fmt::format(
        "is {} missing after {}, before {} runs again (in a loop, or in another call)? The barrier at {} "
        "only separates {} from the {} that follows it.",
        barrier, to, from, place_text(passed), from, to);
  if (both_store(one, other))
    return fmt::format(
        "{} and {} both write it: which of the two threads should? If both should, is {} missing between the "
        "two lines?",
        from, to, barrier);
  return fmt::format(
      "is {} missing between {} and {}? Or after {}, before {} runs again (in a loop, or in another call)?",
      barrier, from, to, to, from);
}

std::string blocks_race(bool both_store) {
  return both_store
             ? "which block should write this element? Does the index of the other one go past its "
               "block's part, or leave the block's number out? If both must write, use an atomic"
             : "blocks run in any order: let each block write only what no other block touches, use an "
               "atomic, or split the kernel into two launches";
}

std::string gpus_race(bool both_store) {
  return both_store ? "which GPU should write this element? Does the index leave the GPU's number out?"
                    : "one GPU hands it over to the other by a flag: all threads that have written pass "
                      "__syncthreads(), then one passes __threadfence_system() and sets the flag, by "
                      "atomicExch_system() or a volatile store; the other GPU's thread sees it and passes "
                      "__threadfence_system() after it, and a __syncthreads() lets its block go on. Which of "
                      "these is missing, or waits for another value?";
}

std::string volatile_race(const std::string& otherwise) {
  return "is it a flag that a thread waits for in a loop? Then put a __threadfence() before the store "
         "that sets it and another one after the loop, or set and read it by atomics; a __syncthreads() "
         "in its place would wait for ever. If it is no flag: " +
         otherwise;
}

}  // namespace cpu
