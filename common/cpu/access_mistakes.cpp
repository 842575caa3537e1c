#include "cpu/access_mistakes.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "cpu/coordinates.hpp"
#include "cpu/device.hpp"
#include "cpu/memory.hpp"
#include "cpu/names.hpp"
#include "cpu/notes.hpp"
#include "cpu/source_line.hpp"
#include "cpu/stop.hpp"

namespace cpu {
namespace {

const char* verb(AccessKind kind) {
  switch (kind) {
    case AccessKind::kLoad:
      return "reads";
    case AccessKind::kStore:
      return "writes";
    case AccessKind::kAtomic:
      break;
  }
  return "updates";
}

/// "  thread (5,0,0) of block (17,0,0) reads q[4] at line 14"
std::string access_line(const Access& access, const std::string& what) {
  return fmt::format("  {} {} {} at {}", running_thread_name(), verb(access.kind), what,
                     place_text(access.instruction));
}

std::string shared_line(const Access& access) {
  return access_line(access, shared_name(access.address, access.size));
}

}  // namespace

void out_of_bounds(Access access) {
  const Buffer* buffer = memory().nearest(access.address);
  if (!buffer)
    stop_launch({"out of bounds", access_line(access, "device memory where no array lies"),
                 "was the array allocated, and is it still?"});
  const std::size_t count = buffer->data.size / buffer->element_size;
  stop_launch({"out of bounds",
               fmt::format("{}\n  {} has {} elements of {} bytes: {}[0] to {}[{}]",
                           access_line(access, global_name(*buffer, access.address, access.size)),
                           buffer->name, count, buffer->element_size, buffer->name, buffer->name, count - 1),
               "is every thread that has no element kept out, as by `if (i < n)`?"});
}

void uninitialised_global(Access access, const Buffer& buffer) {
  if (is_noted("uninitialised device memory", access.instruction)) return;
  const Access load = {access.instruction, access.address, access.size, AccessKind::kLoad};
  stop_or_note(
      {"uninitialised device memory",
       access_line(load, global_name(buffer, access.address, access.size) + ", which nothing has written,"),
       "was the array filled by the host, or by an earlier kernel, to its last element?",
       access.instruction});
}

void race_in_global(Access access, const Buffer& buffer, std::uint32_t earlier, AccessKind earlier_kind,
                    std::uint8_t earlier_site) {
  const Device& d = device();
  const std::uint32_t in_block = d.launch.threads_per_block, block = earlier / in_block;
  const std::string what = global_name(buffer, access.address, access.size);
  const std::uintptr_t earlier_instruction = d.block.sites.instruction(earlier_site);
  stop_launch(
      {"race in device memory",
       fmt::format("{}\n  {} {} {}{}, and nothing orders the two", access_line(access, what),
                   thread_name(earlier % in_block, coordinates(block, d.launch.grid)), verb(earlier_kind),
                   what, earlier_instruction ? " at " + place_text(earlier_instruction) : ""),
       block == d.block.number
           ? "does every thread pass a __syncthreads() between the two?"
           : "blocks run in any order: let each write what no other touches, use an atomic, or\n"
             "  make two launches of it"});
}

void outside_shared(Access access) {
  const Region& dynamic = device().block.shared_memory.dynamic();
  stop_launch({"out of bounds of shared memory",
               fmt::format("{}\n  the launch gave the block {} bytes of dynamic shared memory",
                           access_line(access, fmt::format("byte {} of it", access.address - dynamic.begin)),
                           dynamic.size),
               "does the third argument of launch_shared count bytes, and all of them?"});
}

void uninitialised_shared(Access access) {
  if (is_noted("uninitialised shared memory", access.instruction)) return;
  const Access load = {access.instruction, access.address, access.size, AccessKind::kLoad};
  stop_or_note(
      {"uninitialised shared memory",
       access_line(load, shared_name(access.address, access.size) + ", which this block has not written,"),
       "shared memory holds nothing when a block starts: is every element written before it is read?",
       access.instruction});
}

void race_in_shared(Access access, const ThreadAccess& earlier) {
  const std::string what = shared_name(access.address, access.size);
  const auto line = [&](unsigned thread, AccessKind kind, std::uintptr_t instruction) {
    return fmt::format("  {} {:7} {} at {}", thread_name(thread), verb(kind), what, place_text(instruction));
  };
  // Which of the two ran first here says nothing about which should.
  std::string one = place_text(earlier.instruction), other = place_text(access.instruction);
  if (source_line(access.instruction).line < source_line(earlier.instruction).line) std::swap(one, other);
  stop_launch(
      {"race in shared memory",
       fmt::format("{}\n{}, with no barrier between",
                   line(device().block.thread.number, access.kind, access.instruction),
                   line(earlier.thread, earlier.kind, earlier.instruction)),
       fmt::format("does every thread pass a __syncthreads() on its way from {}\n  to {}?", one, other)});
}

void copy_in_flight(Access access, const AsyncCopy& copy) {
  if (is_noted("asynchronous copy not waited for", access.instruction)) return;
  const bool own = copy.thread == device().block.thread.number;
  stop_or_note({"asynchronous copy not waited for",
                fmt::format("{}\n  {} copies to it at {}, and has not waited for that", shared_line(access),
                            own ? "itself" : thread_name(copy.thread), place_text(copy.instruction)),
                own ? "pass __pipeline_commit(), then a __pipeline_wait_prior(n) with no more than n commits "
                      "in between"
                    : "before the copy, all must have passed a __syncthreads() since they read what was "
                      "there; behind\n"
                      "  it, its thread must wait for it, and then all must pass a __syncthreads()",
                access.instruction});
}

void misaligned(Access access, bool can_go_on) {
  if (is_noted("misaligned access", access.instruction)) return;
  const unsigned size = access.size;
  const auto stop = can_go_on ? stop_or_note : stop_launch;
  stop({"misaligned access",
        access_line(access, fmt::format("{} bytes at address {:#x}, which is not a multiple of {}", size,
                                        access.address, size)),
        fmt::format("a GPU moves {} bytes at once only from a multiple of {}: handle the elements "
                    "before it one by one",
                    size, size),
        access.instruction});
}

void not_device_memory(Access access) {
  stop_launch(
      {"not device memory",
       access_line(access, fmt::format("address {:#x}, which no array on the device has", access.address)),
       access.address < 4096
           ? "a null pointer: was the array passed to the kernel?"
           : "the host's memory, or past the end of a __shared__ array: a kernel can reach\n"
             "  device arrays, its own shared memory and constants only"});
}

}  // namespace cpu
