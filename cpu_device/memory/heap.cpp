#include "cpu_device/memory/heap.hpp"

#include <algorithm>

#include "cpu_device/memory/memory.hpp"
#include "cpu_device/running_thread.hpp"

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
  const std::uint32_t launch = running().launch.number;
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

}  // namespace cpu
