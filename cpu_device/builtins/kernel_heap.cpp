/// \file
/// malloc, free, new and delete in device code.
#include <fmt/format.h>

#include <cstdlib>
#include <new>

#include "cpu_device/access.hpp"
#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/memory/heap.hpp"
#include "cpu_device/running_thread.hpp"

namespace cpu {
namespace {

void* allocate_in_kernel(std::size_t bytes) {
  need_block_order();
  return heap().allocate(bytes);
}

void free_in_kernel(const char* function, void* part, const void* return_address) {
  need_block_order();
  if (!part || heap().release(part)) return;
  const auto place = reinterpret_cast<std::uintptr_t>(return_address);
  stop_launch(
      {"not device memory",
       fmt::format("  {} calls {} at {} with address {}, where nothing on the heap is in use",
                   running_thread_name(), function, place_text(place), part),
       "is it the pointer that malloc or new has returned in a kernel, and freed once? What host code "
       "allocates, host code frees",
       place});
}

}  // namespace
}  // namespace cpu

// Programs call these in place of the C library's functions (play/program/start.hpp).
extern "C" {
void* workbook_malloc(std::size_t bytes) {
  return cpu::grid_runs ? cpu::allocate_in_kernel(bytes) : std::malloc(bytes);
}
void workbook_free(void* part) {
  cpu::grid_runs ? cpu::free_in_kernel("free", part, CALLER) : std::free(part);
}
void* workbook_new(std::size_t bytes) {
  return cpu::grid_runs ? cpu::allocate_in_kernel(bytes) : ::operator new(bytes);
}
void workbook_delete(void* part) {
  cpu::grid_runs ? cpu::free_in_kernel("delete", part, CALLER) : ::operator delete(part);
}
void workbook_sized_delete(void* part, std::size_t) {
  cpu::grid_runs ? cpu::free_in_kernel("delete", part, CALLER) : ::operator delete(part);
}
}
