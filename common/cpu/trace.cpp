/// \file
/// Every load and store of a kernel comes through here. Kernel files are compiled with -fsanitize=thread,
/// which makes the compiler call one of the functions below at each access, but they are not linked with that
/// sanitizer's runtime: this is the runtime.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "cpu/device.hpp"
#include "cpu/finding.hpp"
#include "cpu/symbols.hpp"

namespace cpu {
namespace {

std::string index_in(const Buffer& buffer, std::uintptr_t address, unsigned size) {
  const auto offset = static_cast<std::intptr_t>(address - buffer.data.begin);
  const auto element = static_cast<std::intptr_t>(buffer.element_size);
  const std::intptr_t first = (offset - (offset < 0 ? element - 1 : 0)) / element;
  if (size <= buffer.element_size) return fmt::format("{}[{}]", buffer.name, first);
  return fmt::format("{}[{}..{}]", buffer.name, first,
                     first + static_cast<std::intptr_t>(size) / element - 1);
}

const char* verb(AccessKind kind) {
  return kind == AccessKind::kLoad ? "reads" : kind == AccessKind::kStore ? "writes" : "updates";
}

/// "  thread (5,0,0) of block (17,0,0) reads q[4] at line 14"
std::string access_line(std::uintptr_t instruction, AccessKind kind, const std::string& what) {
  return fmt::format("  {} {} {} at {}", thread_name(device().thread_number), verb(kind), what,
                     place_text(instruction));
}

[[noreturn]] void out_of_bounds(std::uintptr_t instruction, std::uintptr_t address, unsigned size,
                                AccessKind kind) {
  const Buffer* buffer = memory().nearest(address);
  if (!buffer)
    stop_launch("out of bounds", access_line(instruction, kind, "device memory where no array lies"),
                "was the array allocated, and is it still?");
  const std::size_t count = buffer->data.size / buffer->element_size;
  stop_launch("out of bounds",
              fmt::format("{}\n  {} has {} elements of {} bytes: {}[0] to {}[{}]",
                          access_line(instruction, kind, index_in(*buffer, address, size)), buffer->name,
                          count, buffer->element_size, buffer->name, buffer->name, count - 1),
              "is every thread that has no element kept out, as by `if (i < n)`?");
}

[[noreturn]] void not_device_memory(std::uintptr_t instruction, std::uintptr_t address, AccessKind kind) {
  stop_launch(
      "not device memory",
      access_line(instruction, kind, fmt::format("address {:#x}, which no array on the device has", address)),
      address < 4096 ? "a null pointer: was the array passed to the kernel?"
                     : "the host's memory, or past the end of a __shared__ array: a kernel can reach\n"
                       "  device arrays, its own shared memory and constants only");
}

[[noreturn]] void misaligned(std::uintptr_t instruction, std::uintptr_t address, unsigned size,
                             AccessKind kind) {
  stop_launch(
      "misaligned access",
      access_line(
          instruction, kind,
          fmt::format("{} bytes at address {:#x}, which is not a multiple of {}", size, address, size)),
      fmt::format(
          "a GPU moves {} bytes at once only from a multiple of {}: handle the elements before it one by one",
          size, size));
}

[[noreturn]] void uninitialised(std::uintptr_t instruction, std::uintptr_t address, unsigned size,
                                const Buffer& buffer) {
  stop_launch("uninitialised device memory",
              access_line(instruction, AccessKind::kLoad,
                          index_in(buffer, address, size) + ", which nothing has written,"),
              "was the array filled by the host, or by an earlier kernel, to its last element?");
}

/// A fence and then an atomic make what the block has written known to blocks that do an atomic later: the
/// protocol of the last-block reduction. Which counter it was is not looked at, so that no correct kernel is
/// reported.
void note_atomic() {
  Device& d = device();
  d.took_part = true;
  if (!d.fenced) return;
  const uint3 threads = d.launch.block;
  d.published[d.first_thread / (threads.x * threads.y * threads.z)] = true;
}

[[noreturn]] void race_in_global(std::uintptr_t instruction, std::uintptr_t address, unsigned size,
                                 AccessKind kind, const Buffer& buffer, std::uint32_t earlier,
                                 AccessKind earlier_kind, std::uint8_t earlier_site) {
  const Device& d = device();
  const uint3 threads = d.launch.block, grid = d.launch.grid;
  const std::uint32_t in_block = threads.x * threads.y * threads.z, block = earlier / in_block;
  const uint3 at = {block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y};
  const bool same_block = earlier / in_block == d.first_thread / in_block;
  const std::string what = index_in(buffer, address, size);
  const std::uintptr_t earlier_instruction = d.log.instruction(earlier_site);
  stop_launch(
      "race in device memory",
      fmt::format("{}\n  {} {} {}{}, and nothing orders the two", access_line(instruction, kind, what),
                  thread_name(earlier % in_block, at), verb(earlier_kind), what,
                  earlier_instruction ? " at " + place_text(earlier_instruction) : ""),
      same_block ? "does every thread pass a __syncthreads() between the two?"
                 : "blocks run in any order: let each write what no other touches, use an atomic, or\n"
                   "  make two launches of it");
}

/// Whether the running thread comes after what `earlier`, another thread of the grid, did in its block's
/// phase `phase`.
bool ordered_after(std::uint32_t earlier, std::uint16_t phase) {
  const Device& d = device();
  const uint3 threads = d.launch.block;
  const std::uint32_t in_block = threads.x * threads.y * threads.z;
  if (earlier - d.first_thread >= in_block) return d.took_part && d.published[earlier / in_block];
  if (phase != d.phase) return true;
  const std::uint32_t warp = d.thread_number / kWarpSize;
  return (earlier - d.first_thread) / kWarpSize == warp && (d.synced_warps >> warp & 1);
}

[[gnu::always_inline]] inline void check_race(Site& site, std::uintptr_t instruction, std::uintptr_t address,
                                              unsigned size, Buffer& buffer) {
  Device& d = device();
  if (!site.number) d.log.give_number(site);
  const std::uint32_t me = d.first_thread + d.thread_number;
  const std::size_t first = (address - buffer.pages.begin) / 4;
  const unsigned count = (size + 3) / 4;
  const std::uint32_t whole = size >= 4 ? 0xfu : ((1u << size) - 1) << address % 4;
  const std::uint32_t last = size > 4 && size % 4 != 0 ? (1u << size % 4) - 1 : whole;
  const bool atomic = site.kind == AccessKind::kAtomic;
  LastAccess* const words = buffer.last_accesses(d.launch_number, first);
  for (unsigned w = 0; w < count; ++w) {
    const std::uint32_t bytes = w + 1 == count ? last : whole;
    LastAccess& word = words[w];
    const std::uint32_t writer = (word.writer >> 4) - 1, reader = (word.reader >> 4) - 1;
    if (word.writer & bytes && writer != me && !(atomic && word.writer_phase & kAtomicPhase) &&
        !ordered_after(writer, word.writer_phase & kMostPhases))
      race_in_global(instruction, address, size, site.kind, buffer, writer,
                     word.writer_phase & kAtomicPhase ? AccessKind::kAtomic : AccessKind::kStore,
                     word.writer_site);
    if (site.kind == AccessKind::kLoad) {
      word.reader = (me + 1) << 4 | bytes;
      word.reader_phase = d.phase;
      word.reader_site = site.number;
      continue;
    }
    if (word.reader & bytes && reader != me && !ordered_after(reader, word.reader_phase))
      race_in_global(instruction, address, size, site.kind, buffer, reader, AccessKind::kLoad,
                     word.reader_site);
    // Bytes that it wrote before a barrier are ordered by that, and no longer of interest.
    const std::uint16_t phase = d.phase | (atomic ? kAtomicPhase : 0);
    const std::uint32_t before = writer == me && word.writer_phase == phase ? word.writer & 0xf : 0;
    word.writer = (me + 1) << 4 | bytes | before;
    word.writer_phase = phase;
    word.writer_site = site.number;
  }
}

/// `counted` is the size of the access when all of it is read: a copy that ends in zeros reads less.
[[gnu::always_inline]] inline Site& check_global(std::uintptr_t instruction, std::uintptr_t address,
                                                 unsigned size, AccessKind kind, unsigned counted) {
  Device& d = device();
  Site& site = d.log.site(instruction, Space::kGlobal, kind, counted);
  if (!site.buffer || !site.buffer->data.contains(address)) {
    site.buffer = memory().owner(address);
    if (!site.buffer || !site.buffer->data.contains(address)) out_of_bounds(instruction, address, size, kind);
  }
  if (!site.buffer->data.contains(address + size - 1)) out_of_bounds(instruction, address, size, kind);
  if (kind != AccessKind::kStore && !site.buffer->is_initialised(address, size))
    uninitialised(instruction, address, size, *site.buffer);
  if (kind != AccessKind::kLoad) site.buffer->initialise(address, size);
  if (kind == AccessKind::kAtomic) note_atomic();
  if (d.check_races) check_race(site, instruction, address, size, *site.buffer);
  return site;
}

[[gnu::always_inline]] inline void log_access(Site& site, std::uintptr_t address) {
  Device& d = device();
  d.log.add(site, d.lane, d.lane_flow->position, address);
}

/// "s[32]": the static shared array at `address`, or dynamic shared memory, by element of the access's size.
std::string shared_name(std::uintptr_t address, unsigned size) {
  const NamedPlace array = array_at(address);
  return fmt::format("{}[{}]", array.name, (address - array.begin) / size);
}

[[noreturn]] void uninitialised_shared(std::uintptr_t instruction, std::uintptr_t address, unsigned size) {
  stop_launch("uninitialised shared memory",
              access_line(instruction, AccessKind::kLoad,
                          shared_name(address, size) + ", which this block has not written,"),
              "shared memory holds nothing when a block starts: is every element written before it is read?");
}

[[noreturn]] void race_in_shared(const ThreadAccess& earlier, const ThreadAccess& now, std::uintptr_t address,
                                 unsigned size) {
  const std::string what = shared_name(address, size);
  const auto line = [&](const ThreadAccess& access) {
    return fmt::format("  {} {:7} {} at {}", thread_name(access.thread), verb(access.kind), what,
                       place_text(access.instruction));
  };
  // Which of the two ran first here says nothing about which should.
  std::string one = place_text(earlier.instruction), other = place_text(now.instruction);
  if (source_line(now.instruction).line < source_line(earlier.instruction).line) std::swap(one, other);
  stop_launch(
      "race in shared memory", fmt::format("{}\n{}, with no barrier between", line(now), line(earlier)),
      fmt::format("does every thread pass a __syncthreads() on its way from {}\n  to {}?", one, other));
}

[[noreturn]] void copy_under_way(std::uintptr_t instruction, std::uintptr_t address, unsigned size,
                                 AccessKind kind, const AsyncCopy& copy) {
  const bool own = copy.thread == device().thread_number;
  stop_launch(
      "asynchronous copy not waited for",
      fmt::format("{}\n  {} copies to it at {}, and has not waited for that",
                  access_line(instruction, kind, shared_name(address, size)),
                  own ? "itself" : thread_name(copy.thread), place_text(copy.instruction)),
      own ? "pass __pipeline_commit(), then a __pipeline_wait_prior(n) with no more than n commits in between"
          : "before the copy, all must have passed a __syncthreads() since they read what was there; behind\n"
            "  it, its thread must wait for it, and then all must pass a __syncthreads()");
}

[[gnu::always_inline]] inline void check_shared(std::uintptr_t instruction, std::uintptr_t address,
                                                std::size_t offset, unsigned size, AccessKind kind) {
  Device& d = device();
  if (const AsyncCopy* copy = d.copies.to(offset, size))
    copy_under_way(instruction, address, size, kind, *copy);
  const ThreadAccess access = {d.thread_number, instruction, kind};
  ThreadAccess earlier;
  switch (d.shared.access(offset, size, access, &earlier)) {
    case SharedShadow::Verdict::kFine:
      return;
    case SharedShadow::Verdict::kUninitialised:
      uninitialised_shared(instruction, address, size);
    case SharedShadow::Verdict::kRace:
      race_in_shared(earlier, access, address, size);
  }
}

/// Where in the shadow of shared memory an address lies, if there.
[[gnu::always_inline]] inline std::optional<std::size_t> shared_offset(std::uintptr_t address) {
  const Device& d = device();
  if (d.static_shared.contains(address)) return address - d.static_shared.begin;
  if (d.dynamic_shared.contains(address)) return d.static_shared.size + (address - d.dynamic_shared.begin);
  return std::nullopt;
}

[[noreturn]] void unsupported_copy(std::uintptr_t instruction, const std::string& what,
                                   const std::string& look_at) {
  stop_launch(
      "asynchronous copy that there is not",
      fmt::format("  {} {} at {}", thread_name(device().thread_number), what, place_text(instruction)),
      look_at);
}

[[noreturn]] void outside_shared(std::uintptr_t instruction, std::uintptr_t address, AccessKind kind) {
  const Device& d = device();
  stop_launch("out of bounds of shared memory",
              fmt::format("{}\n  the launch gave the block {} bytes of dynamic shared memory",
                          access_line(instruction, kind,
                                      fmt::format("byte {} of it", address - d.dynamic_shared.begin)),
                          d.dynamic_shared.size),
              "does the third argument of launch_shared count bytes, and all of them?");
}

// What a trace goes through is inline: it happens once for each access of each thread.
[[gnu::always_inline]] inline void trace(const void* pointer, unsigned size, AccessKind kind,
                                         const void* return_address) {
  if (!grid_runs) return;  // host code in a chapter's file
  Device& d = device();
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto instruction = reinterpret_cast<std::uintptr_t>(return_address);
  if (d.stacks.contains(address)) return;  // a thread's local variable
  count_step(instruction);
  if (address & (size - 1)) misaligned(instruction, address, size, kind);
  if (d.arena.contains(address))
    return log_access(check_global(instruction, address, size, kind, size), address);
  if (const auto offset = shared_offset(address)) {
    log_access(d.log.site(instruction, Space::kShared, kind, size), address);
    return check_shared(instruction, address, *offset, size, kind);
  }
  if (d.dynamic_shared_storage.contains(address)) outside_shared(instruction, address, kind);
  const auto holds = [&](const Region& region) { return region.contains(address); };
  const bool constant = std::any_of(d.constants.begin(), d.constants.end(), holds);
  if (!constant || kind != AccessKind::kLoad) not_device_memory(instruction, address, kind);
}

/// The same, of sizes that are seldom.
[[gnu::noinline]] void trace_seldom(const void* pointer, unsigned size, AccessKind kind,
                                    const void* return_address) {
  trace(pointer, size, kind, return_address);
}

constexpr auto kLoad = AccessKind::kLoad;
constexpr auto kStore = AccessKind::kStore;

/// A copy of a whole structure: the widest accesses that its alignment allows, as nvcc makes of it.
void trace_range(const char* pointer, std::size_t bytes, AccessKind kind, const void* return_address) {
  while (bytes > 0) {
    unsigned size = 16;
    while (size > bytes || reinterpret_cast<std::uintptr_t>(pointer) % size != 0) size /= 2;
    trace_seldom(pointer, size, kind, return_address);
    pointer += size;
    bytes -= size;
  }
}

/// What the compiler passes to the handler of -fsanitize=bounds, as the sanitizer's runtime declares it
/// (compiler-rt, ubsan_handlers.h).
struct SourceLocation {
  const char* file;
  std::uint32_t line, column;
};
struct TypeDescriptor {
  std::uint16_t kind;
  std::uint16_t info;  ///< of an integer: bit 0 is set when it is signed, the others are the log of its bits
  char name[1];        ///< with quotes: 'float [256]'
};
struct OutOfBounds {
  SourceLocation location;
  const TypeDescriptor* array;
  const TypeDescriptor* index;
};

/// An index that an array of known size does not have: the address alone could belong to the next array.
void index_out_of_bounds(const OutOfBounds& where, std::uintptr_t index, const void* return_address) {
  if (!grid_runs) return;
  const bool is_signed = where.index->info & 1;
  const unsigned unused = 64 - (1u << (where.index->info >> 1));
  const std::string number = is_signed
                                 ? fmt::format("{}", static_cast<std::intptr_t>(index << unused) >> unused)
                                 : fmt::format("{}", index << unused >> unused);
  stop_launch(
      "out of bounds of an array",
      fmt::format("  {} uses index {} of an array of type {} at {}", thread_name(device().thread_number),
                  number, where.array->name, place_text(reinterpret_cast<std::uintptr_t>(return_address))),
      "does the index stay below the array's size for every thread and every block size?");
}

}  // namespace

void* memcpy(void* to, const void* from, size_t bytes) {
  const void* caller = CALLER;
  trace_range(static_cast<const char*>(from), bytes, kLoad, caller);
  trace_range(static_cast<const char*>(to), bytes, kStore, caller);
  return __builtin_memcpy(to, from, bytes);
}

void* memset(void* to, int value, size_t bytes) {
  trace_range(static_cast<const char*>(to), bytes, kStore, CALLER);
  return __builtin_memset(to, value, bytes);
}

void trace_access(const void* address, unsigned size, AccessKind kind, const void* return_address) {
  trace_seldom(address, size, kind, return_address);
}

NamedPlace array_at(std::uintptr_t address) {
  const Device& d = device();
  if (d.dynamic_shared.contains(address)) return {"dynamic shared memory", d.dynamic_shared.begin};
  if (d.static_shared.contains(address)) {
    const ThreadLocalVariable variable = thread_local_variable(address - d.static_shared.begin);
    return {variable.name, address - variable.offset};
  }
  const Buffer* buffer = memory().owner(address);
  return {buffer->name, buffer->data.begin};
}

std::string memory_name(const void* pointer, unsigned size) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (shared_offset(address)) return shared_name(address, size);
  const Buffer* buffer = memory().nearest(address);
  return buffer && device().arena.contains(address) ? index_in(*buffer, address, size)
                                                    : fmt::format("address {:#x}", address);
}

/// The read is taken to happen at the issue. What is copied is known to the thread and others from the wait
/// on, but they are stopped when they look earlier, so it may as well be moved at once.
void pipeline_copy(void* to, const void* from, size_t bytes, size_t zeros) {
  Device& d = device();
  const auto instruction = reinterpret_cast<std::uintptr_t>(CALLER);
  const auto source = reinterpret_cast<std::uintptr_t>(from), target = reinterpret_cast<std::uintptr_t>(to);
  const auto size = static_cast<unsigned>(bytes), read = static_cast<unsigned>(bytes - zeros);
  count_step(instruction);
  if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes)
    unsupported_copy(instruction, fmt::format("copies {} bytes, {} of them zeros", bytes, zeros),
                     "__pipeline_memcpy_async copies 4, 8 or 16 bytes, of which at most all are zeros");
  const auto offset = shared_offset(target);
  if (!offset || (read > 0 && !d.arena.contains(source)))
    unsupported_copy(instruction,
                     fmt::format("copies from {} to {}", memory_name(from, size), memory_name(to, size)),
                     "__pipeline_memcpy_async copies from device memory, its second argument, to shared\n"
                     "  memory, its first");
  if (source % size != 0) misaligned(instruction, source, size, AccessKind::kLoad);
  if (target % size != 0) misaligned(instruction, target, size, AccessKind::kStore);
  Site* load = read > 0 ? &check_global(instruction, source, read, AccessKind::kLoad, size) : nullptr;
  check_shared(instruction, target, *offset, size, AccessKind::kStore);
  Site& copy = d.log.site(instruction, Space::kCopy, AccessKind::kLoad, size);
  if (load) copy.buffer = load->buffer;
  log_access(copy, packed({source, target, read > 0}));
  d.copies.issue(d.thread_number, *offset, size, instruction);
  std::memcpy(to, from, read);
  std::memset(static_cast<char*>(to) + read, 0, zeros);
}

void pipeline_commit() { device().copies.commit(device().thread_number); }

void pipeline_wait(size_t left) {
  constexpr size_t kMostLeft = 8;  // cuda_pipeline_primitives.h
  Device& d = device();
  const auto instruction = reinterpret_cast<std::uintptr_t>(CALLER);
  count_step(instruction);
  // The second of the two writes that a copy counts as. It races with nothing that came before it: nobody
  // has touched the place since the first.
  for (const AsyncCopy& copy : d.copies.wait(d.thread_number, std::min(left, kMostLeft)))
    d.shared.access(copy.offset, copy.size, {d.thread_number, instruction, AccessKind::kStore}, nullptr);
}

}  // namespace cpu

extern "C" {
/// At the start of each basic block.
void __sanitizer_cov_trace_pc() {
  if (!cpu::grid_runs) return;
  const auto block = reinterpret_cast<std::uintptr_t>(CALLER);
  cpu::Device& d = cpu::device();
  cpu::LaneFlow& lane = *d.lane_flow;
  if (!d.iterations.visit(lane, block)) return;
  cpu::count_step(block);
  if (lane.iterations < cpu::kWindow) return;
  lane.iterations = 0;
  cpu::wait_for_warp();
}

void __ubsan_handle_out_of_bounds(void* where, unsigned long index) {
  cpu::index_out_of_bounds(*static_cast<const cpu::OutOfBounds*>(where), index, CALLER);
}

// The names and parameters are the compilers' interface to the sanitizer.
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

void __tsan_read1(void* p) { cpu::trace_seldom(p, 1, cpu::kLoad, CALLER); }
void __tsan_read2(void* p) { cpu::trace_seldom(p, 2, cpu::kLoad, CALLER); }
void __tsan_read4(void* p) { cpu::trace(p, 4, cpu::kLoad, CALLER); }
void __tsan_read8(void* p) { cpu::trace(p, 8, cpu::kLoad, CALLER); }
void __tsan_read16(void* p) { cpu::trace(p, 16, cpu::kLoad, CALLER); }
void __tsan_write1(void* p) { cpu::trace_seldom(p, 1, cpu::kStore, CALLER); }
void __tsan_write2(void* p) { cpu::trace_seldom(p, 2, cpu::kStore, CALLER); }
void __tsan_write4(void* p) { cpu::trace(p, 4, cpu::kStore, CALLER); }
void __tsan_write8(void* p) { cpu::trace(p, 8, cpu::kStore, CALLER); }
void __tsan_write16(void* p) { cpu::trace(p, 16, cpu::kStore, CALLER); }

// Accesses through a pointer whose type promises no alignment.
void __tsan_unaligned_read2(void* p) { cpu::trace_seldom(p, 2, cpu::kLoad, CALLER); }
void __tsan_unaligned_read4(void* p) { cpu::trace_seldom(p, 4, cpu::kLoad, CALLER); }
void __tsan_unaligned_read8(void* p) { cpu::trace_seldom(p, 8, cpu::kLoad, CALLER); }
void __tsan_unaligned_read16(void* p) { cpu::trace_seldom(p, 16, cpu::kLoad, CALLER); }
void __tsan_unaligned_write2(void* p) { cpu::trace_seldom(p, 2, cpu::kStore, CALLER); }
void __tsan_unaligned_write4(void* p) { cpu::trace_seldom(p, 4, cpu::kStore, CALLER); }
void __tsan_unaligned_write8(void* p) { cpu::trace_seldom(p, 8, cpu::kStore, CALLER); }
void __tsan_unaligned_write16(void* p) { cpu::trace_seldom(p, 16, cpu::kStore, CALLER); }

void __tsan_read_range(void* p, unsigned long bytes) {
  cpu::trace_range(static_cast<const char*>(p), bytes, cpu::kLoad, CALLER);
}
void __tsan_write_range(void* p, unsigned long bytes) {
  cpu::trace_range(static_cast<const char*>(p), bytes, cpu::kStore, CALLER);
}

// clang routes the copies and fills that it would call the C library for through these.
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  cpu::trace_range(static_cast<const char*>(from), bytes, cpu::kLoad, CALLER);
  cpu::trace_range(static_cast<const char*>(to), bytes, cpu::kStore, CALLER);
  return __builtin_memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  cpu::trace_range(static_cast<const char*>(from), bytes, cpu::kLoad, CALLER);
  cpu::trace_range(static_cast<const char*>(to), bytes, cpu::kStore, CALLER);
  return __builtin_memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
  cpu::trace_range(static_cast<const char*>(to), bytes, cpu::kStore, CALLER);
  return __builtin_memset(to, value, bytes);
}
}
