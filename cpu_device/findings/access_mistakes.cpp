#include "cpu_device/findings/access_mistakes.hpp"

#include <fmt/format.h>

#include <string>

#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/notes.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/memory/heap.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/memory/shared_memory.hpp"
#include "cpu_device/running_thread.hpp"
#include "system/plural.hpp"

namespace cpu {

using workbook::plural;

namespace {

/// "  thread (5,0,0) of block (17,0,0) reads q[4] at line 14"
std::string access_line(const Access& access, const std::string& what) {
  return fmt::format("  {} {} {} at {}", running_thread_name(), verb(access.kind), what,
                     place_text(access.instruction));
}

std::string no_array(std::uintptr_t address) {
  return fmt::format("address {:#x}, where there is no array,", address);
}

/// What to check after an access outside that array.
std::string index_hint(const Access& access, const Buffer& buffer) {
  const std::uintptr_t address = access.address;
  const Region& data = buffer.data;
  if (data.contains(address))
    return fmt::format(
        "a vector of {} elements needs as many in the array: are the last ones, too few for a vector, "
        "handled one by one?",
        access.size / buffer.element_size);
  const bool below = address < data.begin;
  const std::size_t distance = below ? data.begin - address : address - data.begin - data.size;
  constexpr std::size_t kFar = std::size_t{1} << 20;
  if (distance > data.size + kFar)
    return "is the index computed right, for example an int that overflows, or an unsigned 0 - 1? Or was "
           "the array released?";
  return below ? "can the index be negative for some thread, as i - 1 is at i = 0?"
               : "does a guard such as `if (i < n)` keep out every thread that has no element? Does it test "
                 "the index that is used here, and is its limit right for this size?";
}

std::string shared_line(const Access& access) {
  return access_line(access, shared_name(access.address, access.size));
}

/// "x has 1000 elements of 4 bytes: x[0] to x[999]"
std::string elements_of(const Buffer& buffer) {
  const std::size_t count = buffer.data.size / buffer.element_size;
  const std::string last = count > 1 ? fmt::format(" to {}[{}]", buffer.name, count - 1) : "";
  return fmt::format("{} has {} of {}: {}[0]{}", buffer.name, plural(count, "element"),
                     plural(buffer.element_size, "byte"), buffer.name, last);
}

/// "byte 8", "bytes 8 to 11"
std::string byte_range(std::size_t first, std::size_t last) {
  return first == last ? fmt::format("byte {}", first) : fmt::format("bytes {} to {}", first, last);
}

}  // namespace

void out_of_bounds(Access access) {
  if (const std::string* name = memory().released_at(access.address))
    stop_launch(
        {"out of bounds",
         access_line(access, fmt::format("address {:#x}, where array {} was,", access.address, *name)),
         "the array was released before this launch: was its pointer kept for longer than the array?"});
  const Buffer* buffer = memory().nearest(access.address);
  if (!buffer)
    stop_launch({"out of bounds", access_line(access, no_array(access.address)),
                 "was the array released? Or is it an index far outside of a local or __shared__ array?"});
  stop_launch(
      {"out of bounds",
       access_line(access, global_name(*buffer, access.address, access.size)) + "\n  " + elements_of(*buffer),
       index_hint(access, *buffer)});
}

void not_on_heap(Access access, const Buffer& heap) {
  stop_launch(
      {"out of bounds",
       access_line(access, global_name(heap, access.address, access.size) + ", where nothing is in use,"),
       "has a thread freed it, or is it past the end of what malloc or new has returned?"});
}

void uninitialised_global(Access access, const Buffer& buffer) {
  if (is_noted("uninitialised device memory", access.instruction)) return;
  const Access load = {access.instruction, access.address, access.size, AccessKind::kLoad};
  stop_or_note(
      {"uninitialised device memory",
       access_line(load, global_name(buffer, access.address, access.size) + ", which nothing has written,"),
       heap().is_in(buffer)
           ? "has a thread stored there since malloc or new returned it?"
           : "was the array filled by the host, or by an earlier kernel, to its last element?",
       access.instruction});
}

void outside_shared(Access access) {
  const SharedMemory& shared = shared_memory();
  const Region& data = shared.near_dynamic(access.address) ? shared.dynamic() : shared.statics();
  const bool dynamic = &data == &shared.dynamic();
  const bool below = access.address < data.begin;
  const std::string array = dynamic ? "dynamic shared memory" : "the __shared__ arrays";
  const std::size_t first = access.address - data.begin, last = first + access.size - 1;
  const std::string what =
      below     ? fmt::format("{} before {}", plural(data.begin - access.address, "byte"), array)
      : dynamic ? fmt::format("{} of {}", byte_range(first, last), array)
                : fmt::format("up to {} past {}", plural(last + 1 - data.size, "byte"), array);
  std::string details = access_line(access, what);
  if (dynamic)
    details +=
        fmt::format("\n  the launch gave the block {} of dynamic shared memory", plural(data.size, "byte"));
  stop_launch({"out of bounds of shared memory", details,
               below     ? "can the index be negative for some thread, as i - 1 is at i = 0?"
               : dynamic ? "is the size that launch_shared gets in bytes, and does it cover all that is used?"
                         : "does the index stay below the array's size for every thread?"});
}

namespace {

/// What to check where shared memory is read that nothing has written.
std::string unwritten_hint(const Access& access) {
  const std::string block = plural(running().launch.threads_per_block, "thread");
  const std::string barrier =
      fmt::format("is a __syncthreads() missing before {}?", place_text(access.instruction));
  const unsigned ended = running().block.ended_before_barrier;
  if (ended == 0)
    return fmt::format("which thread writes it, and does a block of {} have that one? If so, {}", block,
                       barrier);
  return fmt::format(
      "which thread writes it: does a block of {} have that one, or has it returned, as {} {}? If it still "
      "runs, {}",
      block, plural(ended, "thread"), ended == 1 ? "has" : "have", barrier);
}

}  // namespace

void uninitialised_shared(Access access) {
  if (is_noted("uninitialised shared memory", access.instruction)) return;
  const Access load = {access.instruction, access.address, access.size, AccessKind::kLoad};
  stop_or_note({"uninitialised shared memory",
                access_line(load, shared_name(access.address, access.size) +
                                      ", which nothing in this block has written yet,"),
                unwritten_hint(access), access.instruction});
}

void copy_in_flight(Access access, const AsyncCopy& copy) {
  if (is_noted("asynchronous copy not waited for", access.instruction)) return;
  const bool own = copy.thread == running().thread.number;
  stop_or_note(
      {"asynchronous copy not waited for",
       fmt::format("{}\n  {} copies to it at {}, and has not waited for the copy", shared_line(access),
                   own ? "the same thread" : thread_name(copy.thread), place_text(copy.instruction)),
       own ? "pass __pipeline_commit(), then a __pipeline_wait_prior(n) with at most n commits "
             "in between"
           : "does the thread that copies wait with __pipeline_wait_prior(), and do all threads "
             "then pass a __syncthreads() before they read? And is there a __syncthreads() between "
             "the last use of what was there and the copy?",
       access.instruction});
}

namespace {

std::string alignment_hint(std::uintptr_t address, unsigned size) {
  const std::string rule =
      fmt::format("a GPU loads or stores {0} bytes at once only at a multiple of {0}", size);
  const Buffer* array = memory().nearest(address);
  if (!array) return rule + ": is this address one, for every thread?";
  if (array->data.begin % size == 0)
    return fmt::format(
        "{}. {} begins at one: which elements come before this address, and does each step from there span "
        "{} bytes?",
        rule, array->name, size);
  return fmt::format(
      "{}, and {} does not begin at one: where is its first one, and is that the same element in the other "
      "arrays?",
      rule, array->name);
}

}  // namespace

void misaligned(Access access, bool can_go_on) {
  if (is_noted("misaligned access", access.instruction)) return;
  const unsigned size = access.size;
  const auto stop = can_go_on ? stop_or_note : stop_launch;
  stop({"misaligned access",
        access_line(access, fmt::format("{} bytes at address {:#x}, which is not a multiple of {}", size,
                                        access.address, size)),
        alignment_hint(access.address, size), access.instruction});
}

void not_device_memory(Access access) {
  const bool null = access.address < 4096;
  const bool local = running().launch.stacks.contains(access.address);
  stop_launch({"not device memory", access_line(access, no_array(access.address)),
               null ? "a null pointer: was the array passed to the kernel?"
               : local
                   ? "a pointer that has left a local array, or one to another thread's local variable: no "
                     "other thread can reach these"
                   : "the host's memory, or far outside of a local or __shared__ array? A kernel can only "
                     "reach device arrays, its block's shared memory, constants and its own local "
                     "variables"});
}

}  // namespace cpu
