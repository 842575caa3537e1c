/// \file
/// The heap of kernels: malloc, free, new and delete in device code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

#include "cpu_device/memory/buffer.hpp"

namespace cpu {

/// One array in device memory, from which threads take parts. Memory that is freed is used again by a later
/// launch: in the same one, its use by two threads would look like a race.
class Heap {
 public:
  /// A multiple of 16, or null where the heap is full.
  void* allocate(std::size_t bytes);
  /// Returns whether there was such a part.
  bool release(void* part);

  bool is_in(const Buffer& array) const { return array_ && array_->pages.begin == array.pages.begin; }
  /// Whether all those bytes are of one part that is in use.
  bool is_in_use(std::uintptr_t address, unsigned size) const {
    const auto after = parts_.upper_bound(address);
    return after != parts_.begin() && address + size <= std::prev(after)->first + std::prev(after)->second;
  }
  void set_limit(std::size_t bytes) { limit_ = bytes; }
  std::size_t limit() const { return limit_; }
  /// How often a part was taken or given back.
  std::size_t changes() const { return changes_; }

 private:
  Buffer* array_ = nullptr;
  std::map<std::uintptr_t, std::size_t> parts_;  ///< that are in use, with their bytes
  std::size_t limit_ = std::size_t{8} << 20;     ///< of bytes in use, as CUDA's
  std::size_t in_use_ = 0;
  std::size_t changes_ = 0;
  std::uint32_t last_launch_ = 0;
};

Heap& heap();

}  // namespace cpu
