#include "cpu/access_mistakes.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "cpu/coordinates.hpp"
#include "cpu/device.hpp"
#include "cpu/memory.hpp"
#include "cpu/names.hpp"
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

/// The two accesses of a race, a line each.
std::string both_accesses(const Race& race) {
  const Device& d = device();
  const std::string what = memory_name(reinterpret_cast<const void*>(race.access.address), race.access.size);
  const auto line = [&](std::uint32_t thread, AccessKind kind, std::uintptr_t instruction) {
    const std::uint32_t in_block = d.launch.threads_per_block;
    return fmt::format("  {} {} {}{}",
                       thread_name(thread % in_block, coordinates(thread / in_block, d.launch.grid)),
                       verb(kind), what, instruction ? " at " + place_text(instruction) : "");
  };
  const Site* earlier = d.block.sites.numbered(race.earlier_site);
  return line(race.thread, race.access.kind, race.access.instruction) + "\n" +
         line(race.earlier_thread, earlier ? earlier->kind : AccessKind::kLoad,
              earlier ? earlier->instruction : 0);
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
  const Access load = {access.instruction, access.address, access.size, AccessKind::kLoad};
  stop_launch(
      {"uninitialised device memory",
       access_line(load, global_name(buffer, access.address, access.size) + ", which nothing has written,"),
       "was the array filled by the host, or by an earlier kernel, to its last element?"});
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
  const Access load = {access.instruction, access.address, access.size, AccessKind::kLoad};
  stop_launch(
      {"uninitialised shared memory",
       access_line(load, shared_name(access.address, access.size) + ", which this block has not written,"),
       "shared memory holds nothing when a block starts: is every element written before it is read?"});
}

Mistake race_between(const Race& race) {
  const std::uint32_t in_block = device().launch.threads_per_block;
  if (race.thread / in_block != race.earlier_thread / in_block)
    return {"race in device memory", both_accesses(race) + ", and nothing orders the two",
            "blocks run in any order: let each write what no other touches, use an atomic, or\n"
            "  make two launches of it",
            race.access.instruction};
  // Which of the two ran first here says nothing about which should.
  const Site* earlier = device().block.sites.numbered(race.earlier_site);
  std::string look_at = "does every thread pass a __syncthreads() between the two?";
  if (earlier) {
    std::string one = place_text(earlier->instruction), other = place_text(race.access.instruction);
    if (source_line(race.access.instruction).line < source_line(earlier->instruction).line)
      std::swap(one, other);
    look_at =
        fmt::format("does every thread pass a __syncthreads() on its way from {}\n  to {}?", one, other);
  }
  const std::string details = both_accesses(race) + ", with no barrier between";
  if (race.shared) return {"race in shared memory", details, look_at, race.access.instruction};
  return {"race in device memory", details, look_at, race.access.instruction};
}

Mistake same_value_stored(const Race& race) {
  return {"same value stored by several threads", both_accesses(race) + "; both store the same value",
          "CUDA calls this a race all the same: let one thread store it", race.access.instruction};
}

Mistake ordered_by_shuffle(const Race& race) {
  return {"order by a shuffle", both_accesses(race) + ", and only a shuffle or vote is between the two",
          "CUDA does not promise that shuffles and votes order memory: put a __syncwarp() there",
          race.access.instruction};
}

void copy_in_flight(Access access, const AsyncCopy& copy) {
  const bool own = copy.thread == device().block.thread.number;
  stop_launch({"asynchronous copy not waited for",
               fmt::format("{}\n  {} copies to it at {}, and has not waited for that", shared_line(access),
                           own ? "itself" : thread_name(copy.thread), place_text(copy.instruction)),
               own ? "pass __pipeline_commit(), then a __pipeline_wait_prior(n) with no more than n commits "
                     "in between"
                   : "before the copy, all must have passed a __syncthreads() since they read what was "
                     "there; behind\n"
                     "  it, its thread must wait for it, and then all must pass a __syncthreads()"});
}

void misaligned(Access access) {
  const unsigned size = access.size;
  stop_launch({"misaligned access",
               access_line(access, fmt::format("{} bytes at address {:#x}, which is not a multiple of {}",
                                               size, access.address, size)),
               fmt::format("a GPU moves {} bytes at once only from a multiple of {}: handle the elements "
                           "before it one by one",
                           size, size)});
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
