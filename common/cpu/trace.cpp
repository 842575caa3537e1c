/// \file
/// Every load and store of a kernel comes through here. Kernel files are compiled with -fsanitize=thread,
/// which makes the compiler call one of the functions below at each access, but they are not linked with that
/// sanitizer's runtime: this is the runtime.
#include <fmt/format.h>

#include "cpu/device.hpp"
#include "cpu/finding.hpp"

extern "C" const char __executable_start, _end;  // the linker's: the program's own code and data lie between

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

/// "  thread (5,0,0) of block (17,0,0) reads q[4] at line 14", with the file too where it is not the
/// kernel's.
std::string access_line(std::uintptr_t instruction, bool store, const std::string& what) {
  const SourceLine place = source_line(instruction);
  const SourceLine kernel = function_at(reinterpret_cast<std::uintptr_t>(device().launch->kernel));
  const std::string where = place.file == kernel.file ? fmt::format("line {}", place.line)
                                                      : fmt::format("{}:{}", place.file, place.line);
  return fmt::format("  {} {} {} at {}", running_thread(), store ? "writes" : "reads", what, where);
}

[[noreturn]] void out_of_bounds(std::uintptr_t instruction, std::uintptr_t address, unsigned size,
                                bool store) {
  const Buffer* buffer = memory().nearest(address);
  if (!buffer)
    stop_launch("out of bounds", access_line(instruction, store, "device memory where no array lies"),
                "was the array allocated, and is it still?");
  const std::size_t count = buffer->data.size / buffer->element_size;
  stop_launch("out of bounds",
              fmt::format("{}\n  {} has {} elements of {} bytes: {}[0] to {}[{}]",
                          access_line(instruction, store, index_in(*buffer, address, size)), buffer->name,
                          count, buffer->element_size, buffer->name, buffer->name, count - 1),
              "is every thread that has no element kept out, as by `if (i < n)`?");
}

[[noreturn]] void not_device_memory(std::uintptr_t instruction, std::uintptr_t address, bool store) {
  stop_launch("not device memory",
              access_line(instruction, store,
                          fmt::format("address {:#x}, which no array on the device has", address)),
              address < 4096 ? "a null pointer: was the array passed to the kernel?"
                             : "a pointer to the host's memory: a kernel can reach device arrays only");
}

[[noreturn]] void misaligned(std::uintptr_t instruction, std::uintptr_t address, unsigned size, bool store) {
  stop_launch(
      "misaligned access",
      access_line(
          instruction, store,
          fmt::format("{} bytes at address {:#x}, which is not a multiple of {}", size, address, size)),
      fmt::format(
          "a GPU moves {} bytes at once only from a multiple of {}: handle the elements before it one by one",
          size, size));
}

void trace_global(std::uintptr_t instruction, std::uintptr_t address, unsigned size, bool store) {
  Device& d = device();
  Site& site = d.log.site(instruction, Space::kGlobal, store, size);
  if (!site.buffer || !site.buffer->data.contains(address)) {
    site.buffer = memory().owner(address);
    if (!site.buffer || !site.buffer->data.contains(address))
      out_of_bounds(instruction, address, size, store);
  }
  if (!site.buffer->data.contains(address + size - 1)) out_of_bounds(instruction, address, size, store);
  while (WarpLog::must_wait(site, d.lane)) wait_for_warp();
  d.log.add(site, d.lane, address);
}

void trace_shared(std::uintptr_t instruction, std::uintptr_t address, std::size_t offset, unsigned size,
                  bool store) {
  Device& d = device();
  std::uint32_t* writer = d.shared_writes.data() + offset;
  for (unsigned byte = 0; byte < size; ++byte) {
    if (store) {
      writer[byte] = d.block_number;
    } else if (writer[byte] != d.block_number) {
      stop_launch(
          "uninitialised shared memory",
          access_line(instruction, store, "shared memory that this block has not written"),
          "shared memory holds nothing when a block starts: is every element written before it is read?");
    }
  }
  Site& site = d.log.site(instruction, Space::kShared, store, size);
  while (WarpLog::must_wait(site, d.lane)) wait_for_warp();
  d.log.add(site, d.lane, address);
}

/// Constants and tables of the program itself: neither device nor host data.
bool in_program(std::uintptr_t address) {
  return address >= reinterpret_cast<std::uintptr_t>(&__executable_start) &&
         address < reinterpret_cast<std::uintptr_t>(&_end);
}

void trace(const void* pointer, unsigned size, bool store, const void* return_address) {
  const Device& d = device();
  if (!d.running) return;  // host code in a chapter's file
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto instruction = reinterpret_cast<std::uintptr_t>(return_address);
  if (d.stacks.contains(address)) return;  // a thread's local variable
  if (address % size != 0) misaligned(instruction, address, size, store);
  if (d.arena.contains(address)) return trace_global(instruction, address, size, store);
  if (d.static_shared.contains(address))
    return trace_shared(instruction, address, address - d.static_shared.begin, size, store);
  if (d.dynamic_shared.contains(address))
    return trace_shared(instruction, address, d.static_shared.size + (address - d.dynamic_shared.begin), size,
                        store);
  if (!in_program(address)) not_device_memory(instruction, address, store);
}

/// A copy of a whole structure: the widest accesses that its alignment allows, as nvcc makes of it.
void trace_range(const char* pointer, std::size_t bytes, bool store, const void* return_address) {
  while (bytes > 0) {
    unsigned size = 16;
    while (size > bytes || reinterpret_cast<std::uintptr_t>(pointer) % size != 0) size /= 2;
    trace(pointer, size, store, return_address);
    pointer += size;
    bytes -= size;
  }
}

}  // namespace
}  // namespace cpu

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

extern "C" {
// The names and parameters are the compilers' interface to the sanitizer.
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

void __tsan_read1(void* p) { cpu::trace(p, 1, false, CALLER); }
void __tsan_read2(void* p) { cpu::trace(p, 2, false, CALLER); }
void __tsan_read4(void* p) { cpu::trace(p, 4, false, CALLER); }
void __tsan_read8(void* p) { cpu::trace(p, 8, false, CALLER); }
void __tsan_read16(void* p) { cpu::trace(p, 16, false, CALLER); }
void __tsan_write1(void* p) { cpu::trace(p, 1, true, CALLER); }
void __tsan_write2(void* p) { cpu::trace(p, 2, true, CALLER); }
void __tsan_write4(void* p) { cpu::trace(p, 4, true, CALLER); }
void __tsan_write8(void* p) { cpu::trace(p, 8, true, CALLER); }
void __tsan_write16(void* p) { cpu::trace(p, 16, true, CALLER); }

// Accesses through a pointer whose type promises no alignment.
void __tsan_unaligned_read2(void* p) { cpu::trace(p, 2, false, CALLER); }
void __tsan_unaligned_read4(void* p) { cpu::trace(p, 4, false, CALLER); }
void __tsan_unaligned_read8(void* p) { cpu::trace(p, 8, false, CALLER); }
void __tsan_unaligned_read16(void* p) { cpu::trace(p, 16, false, CALLER); }
void __tsan_unaligned_write2(void* p) { cpu::trace(p, 2, true, CALLER); }
void __tsan_unaligned_write4(void* p) { cpu::trace(p, 4, true, CALLER); }
void __tsan_unaligned_write8(void* p) { cpu::trace(p, 8, true, CALLER); }
void __tsan_unaligned_write16(void* p) { cpu::trace(p, 16, true, CALLER); }

void __tsan_read_range(void* p, unsigned long bytes) {
  cpu::trace_range(static_cast<const char*>(p), bytes, false, CALLER);
}
void __tsan_write_range(void* p, unsigned long bytes) {
  cpu::trace_range(static_cast<const char*>(p), bytes, true, CALLER);
}

// clang routes the copies and fills that it would call the C library for through these.
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  cpu::trace_range(static_cast<const char*>(from), bytes, false, CALLER);
  cpu::trace_range(static_cast<const char*>(to), bytes, true, CALLER);
  return __builtin_memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  cpu::trace_range(static_cast<const char*>(from), bytes, false, CALLER);
  cpu::trace_range(static_cast<const char*>(to), bytes, true, CALLER);
  return __builtin_memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
  cpu::trace_range(static_cast<const char*>(to), bytes, true, CALLER);
  return __builtin_memset(to, value, bytes);
}
}
