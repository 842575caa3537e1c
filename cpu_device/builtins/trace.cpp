/// \file
/// Every load and store of a kernel comes through here. Kernel files are compiled with -fsanitize=thread,
/// which makes the compiler call one of the functions below at each access, but they are not linked with that
/// sanitizer's runtime: this is the runtime.
#include "cpu_device/builtins/trace.hpp"

#include <cstddef>
#include <cstdint>

#include "cpu_device/builtins/check_access.hpp"
#include "cpu_device/dialect/runtime.hpp"
#include "cpu_device/running/scheduler.hpp"

namespace cpu {
namespace {

constexpr auto kLoad = AccessKind::kLoad;
constexpr auto kStore = AccessKind::kStore;
constexpr auto kVolatile = AccessManner::kVolatile;

/// An access to memory that is neither a local variable, nor an array, nor shared memory: only constants may
/// be read there.
void trace_elsewhere(Access access) {
  const Device& d = device();
  if (access.kind == kLoad && d.launch.is_constant(access.address)) return;
  const SharedMemory& shared = d.shared_memory;
  if (shared.near_dynamic(access.address) || shared.near_statics(access.address)) outside_shared(access);
  not_device_memory(access);
}

void trace_misaligned(Access access);

/// Whether a strong load or an atomic repeats the lane's last one: it probably polls, and how often depends
/// on time. Where several GPUs run, which they do to wait for each other, such loads are counted once.
bool polls_again(const Device& d, std::uintptr_t instruction, std::uintptr_t address) {
  if (!d.gpus) return false;
  LaneFlow& lane = *d.thread.flow;
  if (lane.polled_by == instruction && lane.polled == address) return true;
  lane.polled_by = instruction;
  lane.polled = address;
  return false;
}

[[gnu::noinline]] void trace_rare(const void* pointer, unsigned size, AccessKind kind,
                                  const void* return_address, AccessManner manner = AccessManner::kPlain,
                                  Scope scope = Scope::kDevice) {
  if (!grid_runs) return;  // host code in a chapter's file
  Device& d = device();
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto instruction = reinterpret_cast<std::uintptr_t>(return_address);
  if (d.stack.contains(address)) return;  // a local variable
  const bool strong = manner != AccessManner::kPlain && kind != AccessKind::kAtomic;
  const bool may_poll = (strong && kind == kLoad) || kind == AccessKind::kAtomic;
  const bool repeats = may_poll && polls_again(d, instruction, address);
  if (repeats) d.steps.suspect();
  const bool again = repeats && kind == kLoad;  // atomics are counted: a loop of them need not poll
  d.steps.count(instruction, address, size, kind);
  const Access access = {instruction, address, size, kind, manner, scope};
  if (address & (size - 1)) return trace_misaligned(access);
  if (d.launch.is_global(address)) {
    Site& site = check_global(d, access, size);
    if (strong) site.is_volatile = true;
    if (!again) log_access(d, site, address);
    return;
  }
  const auto last_byte = d.shared_memory.offset(address + size - 1);
  if (!last_byte || *last_byte < size - 1) return trace_elsewhere(access);
  Site& site = d.sites.at(instruction, Space::kShared, kind, size);
  if (manner == kVolatile) site.is_volatile = true;
  log_access(d, site, address);
  check_shared(d, access, *last_byte - (size - 1), site);
}

/// The same for plain accesses of 4, 8 or 16 bytes. Always inline: it runs once for each access of each
/// thread. It calls nothing but at its end, so that it hardly needs a stack.
[[gnu::always_inline]] inline void trace(const void* pointer, unsigned size, AccessKind kind,
                                         const void* return_address) {
  if (!grid_runs) return;
  Device& d = device();
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto instruction = reinterpret_cast<std::uintptr_t>(return_address);
  Site* const site = d.sites.cached(instruction, kind, size);
  if (!site && d.stack.contains(address)) return;  // a local variable
  if (!site || address & (size - 1) || !d.steps.next_is_quiet() ||
      !check_quickly(d, *site, address, size, kind))
    return trace_rare(pointer, size, kind, return_address);
  d.steps.count_quiet();
  log_access(d, *site, address);
}

/// Byte by byte, if the launch goes on after it. It cannot after an access of 16 bytes: compilers use
/// instructions for it that need aligned addresses.
void trace_misaligned(Access access) {
  misaligned(access, access.size <= 8);
  for (unsigned byte = 0; byte < access.size; ++byte)
    trace_rare(reinterpret_cast<const char*>(access.address) + byte, 1, access.kind,
               reinterpret_cast<const void*>(access.instruction));
}

/// A copy of a whole structure: the widest accesses that its alignment allows, as nvcc compiles it.
void trace_range(const void* begin, std::size_t bytes, AccessKind kind, const void* return_address) {
  const char* pointer = static_cast<const char*>(begin);
  while (bytes > 0) {
    unsigned size = 16;
    while (size > bytes || reinterpret_cast<std::uintptr_t>(pointer) % size != 0) size /= 2;
    trace_rare(pointer, size, kind, return_address);
    pointer += size;
    bytes -= size;
  }
}

/// The lane comes to a place that may begin another iteration.
[[gnu::noinline]] void visit_rare(LaneFlow& lane, std::uintptr_t block) {
  Device& d = device();
  if (!Iterations::repeat(lane, block) && !d.iterations.follow(lane, block)) return;
  d.steps.count_iteration(block);
  if (lane.iterations <= kMostIterationsAhead || d.steps.probing()) return;
  lane.iterations = 0;
  scheduler().wait_for_warp();
}

}  // namespace

void trace_access(const void* address, unsigned size, AccessKind kind, const void* return_address,
                  AccessManner manner, Scope scope) {
  trace_rare(address, size, kind, return_address, manner, scope);
}

void* memcpy(void* to, const void* from, size_t bytes) {
  const void* caller = CALLER;
  trace_range(from, bytes, kLoad, caller);
  trace_range(to, bytes, kStore, caller);
  return __builtin_memcpy(to, from, bytes);
}

void* memset(void* to, int value, size_t bytes) {
  trace_range(to, bytes, kStore, CALLER);
  return __builtin_memset(to, value, bytes);
}

}  // namespace cpu

extern "C" {
/// At the start of each basic block.
void __sanitizer_cov_trace_pc() {
  if (!cpu::grid_runs) return;
  const auto block = reinterpret_cast<std::uintptr_t>(CALLER);
  cpu::LaneFlow& lane = *cpu::device().thread.flow;
  if (!cpu::Iterations::visit(lane, block)) cpu::visit_rare(lane, block);
}

// The names and parameters are the compilers' interface to the sanitizer.
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

void __tsan_read1(void* p) { cpu::trace_rare(p, 1, cpu::kLoad, CALLER); }
void __tsan_read2(void* p) { cpu::trace_rare(p, 2, cpu::kLoad, CALLER); }
void __tsan_read4(void* p) { cpu::trace(p, 4, cpu::kLoad, CALLER); }
void __tsan_read8(void* p) { cpu::trace(p, 8, cpu::kLoad, CALLER); }
void __tsan_read16(void* p) { cpu::trace(p, 16, cpu::kLoad, CALLER); }
void __tsan_write1(void* p) { cpu::trace_rare(p, 1, cpu::kStore, CALLER); }
void __tsan_write2(void* p) { cpu::trace_rare(p, 2, cpu::kStore, CALLER); }
void __tsan_write4(void* p) { cpu::trace(p, 4, cpu::kStore, CALLER); }
void __tsan_write8(void* p) { cpu::trace(p, 8, cpu::kStore, CALLER); }
void __tsan_write16(void* p) { cpu::trace(p, 16, cpu::kStore, CALLER); }

// Accesses of a type that is aligned to less than its size, such as a structure of two ints.
void __tsan_unaligned_read2(void* p) { cpu::trace_range(p, 2, cpu::kLoad, CALLER); }
void __tsan_unaligned_read4(void* p) { cpu::trace_range(p, 4, cpu::kLoad, CALLER); }
void __tsan_unaligned_read8(void* p) { cpu::trace_range(p, 8, cpu::kLoad, CALLER); }
void __tsan_unaligned_read16(void* p) { cpu::trace_range(p, 16, cpu::kLoad, CALLER); }
void __tsan_unaligned_write2(void* p) { cpu::trace_range(p, 2, cpu::kStore, CALLER); }
void __tsan_unaligned_write4(void* p) { cpu::trace_range(p, 4, cpu::kStore, CALLER); }
void __tsan_unaligned_write8(void* p) { cpu::trace_range(p, 8, cpu::kStore, CALLER); }
void __tsan_unaligned_write16(void* p) { cpu::trace_range(p, 16, cpu::kStore, CALLER); }

void __tsan_volatile_read1(void* p) { cpu::trace_rare(p, 1, cpu::kLoad, CALLER, cpu::kVolatile); }
void __tsan_volatile_read2(void* p) { cpu::trace_rare(p, 2, cpu::kLoad, CALLER, cpu::kVolatile); }
void __tsan_volatile_read4(void* p) { cpu::trace_rare(p, 4, cpu::kLoad, CALLER, cpu::kVolatile); }
void __tsan_volatile_read8(void* p) { cpu::trace_rare(p, 8, cpu::kLoad, CALLER, cpu::kVolatile); }
void __tsan_volatile_read16(void* p) { cpu::trace_rare(p, 16, cpu::kLoad, CALLER, cpu::kVolatile); }
void __tsan_volatile_write1(void* p) { cpu::trace_rare(p, 1, cpu::kStore, CALLER, cpu::kVolatile); }
void __tsan_volatile_write2(void* p) { cpu::trace_rare(p, 2, cpu::kStore, CALLER, cpu::kVolatile); }
void __tsan_volatile_write4(void* p) { cpu::trace_rare(p, 4, cpu::kStore, CALLER, cpu::kVolatile); }
void __tsan_volatile_write8(void* p) { cpu::trace_rare(p, 8, cpu::kStore, CALLER, cpu::kVolatile); }
void __tsan_volatile_write16(void* p) { cpu::trace_rare(p, 16, cpu::kStore, CALLER, cpu::kVolatile); }

// The table of an object's virtual functions, in its constructor, its destructor and at a call.
void __tsan_vptr_update(void** p, void*) { cpu::trace(p, 8, cpu::kStore, CALLER); }
void __tsan_vptr_read(void** p) { cpu::trace(p, 8, cpu::kLoad, CALLER); }

void __tsan_read_range(void* p, unsigned long bytes) { cpu::trace_range(p, bytes, cpu::kLoad, CALLER); }
void __tsan_write_range(void* p, unsigned long bytes) { cpu::trace_range(p, bytes, cpu::kStore, CALLER); }

// In place of the C library's (dialect.hpp).
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  cpu::trace_range(from, bytes, cpu::kLoad, CALLER);
  cpu::trace_range(to, bytes, cpu::kStore, CALLER);
  return __builtin_memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  cpu::trace_range(from, bytes, cpu::kLoad, CALLER);
  cpu::trace_range(to, bytes, cpu::kStore, CALLER);
  return __builtin_memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
  cpu::trace_range(to, bytes, cpu::kStore, CALLER);
  return __builtin_memset(to, value, bytes);
}
}
