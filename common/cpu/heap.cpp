#include "cpu/heap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "cpu/access.hpp"
#include "cpu/cores.hpp"
#include "cpu/device.hpp"
#include "cpu/memory.hpp"
#include "cpu/names.hpp"
#include "cpu/stop.hpp"

namespace cpu {
namespace {

constexpr std::size_t kLeastBytes = std::size_t{64} << 20;  // of address space
constexpr std::size_t kUnit = 16;  // between two parts there is one unit that is never written

}  // namespace

void* Heap::allocate(std::size_t bytes) {
  if (!array_) {
    void* const first = memory().allocate(std::max(kLeastBytes, 4 * limit_), 0, "heap", 1);
    array_ = memory().owner(reinterpret_cast<std::uintptr_t>(first));
    array_->data.size = 0;  // as far as it has been used
  }
  const std::uint32_t launch = device().launch.number;
  if (parts_.empty() && launch != last_launch_) array_->data.size = 0;
  last_launch_ = launch;
  const std::size_t begin = array_->data.size;
  if (bytes > limit_ - in_use_ || begin + bytes + 2 * kUnit > array_->pages.size) return nullptr;
  const std::size_t end = begin + (bytes + kUnit - 1) / kUnit * kUnit + kUnit;
  array_->data.size = end;
  array_->written.set(begin, end, false);
  parts_[array_->data.begin + begin] = bytes;
  in_use_ += bytes;
  ++changes_;
  return reinterpret_cast<void*>(array_->data.begin + begin);
}

bool Heap::release(void* part) {
  const auto found = parts_.find(reinterpret_cast<std::uintptr_t>(part));
  if (found == parts_.end()) return false;
  const std::size_t begin = found->first - array_->data.begin;
  array_->written.set(begin, begin + found->second, false);
  in_use_ -= found->second;
  ++changes_;
  parts_.erase(found);
  return true;
}

Heap& heap() {
  static Heap instance;
  return instance;
}

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

// Published files call these in place of the C library's functions (published.hpp).
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
