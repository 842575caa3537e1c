#include "cpu_device/races/race_findings.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/gpu_launches.hpp"
#include "cpu_device/lanes.hpp"
#include "cpu_device/program_image/source_line.hpp"
#include "cpu_device/running_thread.hpp"

namespace cpu {
namespace {

/// An access that takes part in a race, by the instruction that makes it; 0 where that is not known.
struct RacingAccess {
  std::uintptr_t instruction;
  AccessKind kind;
};

bool both_store(const RacingAccess& one, const RacingAccess& other) {
  return one.kind == AccessKind::kStore && other.kind == AccessKind::kStore;
}

RacingAccess earlier_of(const Race& race) {
  return race.earlier ? RacingAccess{race.earlier->instruction, race.earlier->kind}
                      : RacingAccess{0, AccessKind::kLoad};
}

/// The two accesses of a race, a line each.
std::string both_accesses(const Race& race) {
  const std::string what = memory_name(reinterpret_cast<const void*>(race.access.address), race.access.size);
  const auto line = [&](std::uint32_t thread, AccessKind kind, std::uintptr_t instruction) {
    return fmt::format("  {} {} {}{}", grid_thread_name(thread), verb(kind), what,
                       instruction ? " at " + place_text(instruction) : "");
  };
  const RacingAccess earlier = earlier_of(race);
  return line(race.thread, race.access.kind, race.access.instruction) + "\n" +
         line(race.earlier_thread, earlier.kind, earlier.instruction);
}

/// Whether the two threads of a race are of different blocks.
bool is_of_two_blocks(const Race& race) {
  const std::uint32_t in_block = running().launch.numbers_per_block;
  return race.thread / in_block != race.earlier_thread / in_block;
}

bool is_of_two_gpus(const Race& race) {
  const GpuLaunches* const launches = running().gpu_launches;
  return launches && launches->of_thread(race.thread).gpu != launches->of_thread(race.earlier_thread).gpu;
}

/// Whether the two, of one block, are lanes of one warp.
bool is_of_one_warp(const Race& race) {
  const std::uint32_t in_block = running().launch.numbers_per_block;
  return race.thread % in_block / kWarpSize == race.earlier_thread % in_block / kWarpSize;
}

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

/// The hint for a race between two threads of one block, perhaps of one warp, in the order in which they ran
/// here. Whether other warps use the array as well is not known. A barrier may
/// be missing between the two lines, or after the later line, before the earlier one runs again in a loop's
/// next iteration. The hint names both places, unless the barrier that the block passed last is between the
/// lines: then only the second is left.
std::string missing_barrier(const RacingAccess& one, const RacingAccess& other, bool of_one_warp) {
  const std::string barrier = of_one_warp
                                  ? "a __syncthreads() (or a __syncwarp(), if no other warp uses the array)"
                                  : "a __syncthreads()";
  if (!one.instruction || !other.instruction)
    return fmt::format("is {} missing between the two accesses, or between two iterations of a loop?",
                       barrier);
  if (same_line(one.instruction, other.instruction))
    return missing_in_line(place_text(one.instruction), barrier, both_store(one, other));
  // The threads of a block run one after another here, so which of the two ran first says nothing.
  std::uintptr_t first = one.instruction, last = other.instruction;
  if (source_line(last).line < source_line(first).line) std::swap(first, last);
  const std::string from = place_text(first), to = place_text(last);
  const std::uintptr_t waiting = waiting_at(), passed = running().block.last_barrier;
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

/// The hint for a race between threads of two blocks: that both store, or that one of them may only read.
std::string blocks_race(bool both_store) {
  return both_store
             ? "which block should write this element? Does the index of the other one go past its "
               "block's part, or leave the block's number out? If both must write, use an atomic"
             : "blocks run in any order: let each block write only what no other block touches, use an "
               "atomic, or split the kernel into two launches";
}

/// The hint for a race between threads of two GPUs.
std::string gpus_race(bool both_store) {
  return both_store ? "which GPU should write this element? Does the index leave the GPU's number out?"
                    : "one GPU hands it over to the other by a flag: all threads that have written pass "
                      "__syncthreads(), then one passes __threadfence_system() and sets the flag, by "
                      "atomicExch_system() or a volatile store; the other GPU's thread sees it and passes "
                      "__threadfence_system() after it, and a __syncthreads() lets its block go on. Which of "
                      "these is missing, or waits for another value?";
}

/// The hint for a race of a volatile access, between two warps or blocks: it may be a flag that one of them
/// waits for, and then a barrier would wait for ever. `otherwise` is the hint if it is none.
std::string volatile_race(const std::string& otherwise) {
  return "is it a flag that a thread waits for in a loop? Then put a __threadfence() before the store "
         "that sets it and another one after the loop, or set and read it by atomics; a __syncthreads() "
         "in its place would wait for ever. If it is no flag: " +
         otherwise;
}

}  // namespace

Mistake race_between(const Race& race) {
  const bool is_volatile =
      race.access.manner == AccessManner::kVolatile || (race.earlier && race.earlier->is_volatile);
  const RacingAccess first = earlier_of(race), second = {race.access.instruction, race.access.kind};
  if (is_of_two_gpus(race))
    return {"race in device memory", both_accesses(race) + "\n  and nothing orders the two",
            gpus_race(both_store(first, second)), race.access.instruction};
  if (is_of_two_blocks(race))
    return {"race in device memory", both_accesses(race) + "\n  and nothing orders the two",
            is_volatile ? volatile_race(blocks_race(false)) : blocks_race(both_store(first, second)),
            race.access.instruction};
  const std::string details = both_accesses(race) + "\n  with no barrier between the two";
  std::string look_at = missing_barrier(first, second, is_of_one_warp(race));
  if (is_volatile && !is_of_one_warp(race)) look_at = volatile_race(look_at);
  if (race.shared) return {"race in shared memory", details, look_at, race.access.instruction};
  return {"race in device memory", details, look_at, race.access.instruction};
}

Mistake same_value_stored(const Race& race) {
  return {"same value stored by several threads", both_accesses(race) + "\n  and both store the same value",
          is_of_two_blocks(race)
              ? "CUDA calls this a race all the same: should both blocks have this element? Which part "
                "of its index tells the blocks apart?"
              : "CUDA calls this a race all the same: let one thread store it.",
          race.access.instruction};
}

Mistake ordered_by_shuffle(const Race& race) {
  return {"order by a shuffle", both_accesses(race) + "\n  with only a shuffle or vote between the two",
          "CUDA does not promise that shuffles and votes order memory: put a __syncwarp() there.",
          race.access.instruction};
}

}  // namespace cpu
