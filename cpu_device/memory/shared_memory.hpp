/// \file
/// Where the running block's shared memory is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "cpu_device/region.hpp"

namespace cpu {

/// Static plus dynamic shared memory of a block, on the cards that have most.
constexpr std::size_t kMostSharedBytes = 227 * 1024;
/// `__shared__` arrays of a kernel together: what nvcc accepts. With dynamic shared memory, what a kernel has
/// without cudaFuncSetAttribute().
constexpr std::size_t kMostStaticSharedBytes = 48 * 1024;

/// The `__shared__` arrays, which are thread-local variables of the program, and dynamic shared memory. An
/// offset counts the bytes of the first, up to a multiple of 16, then those of the second: the shadows of
/// shared memory go by it.
class SharedMemory {
 public:
  /// A launch of a program whose thread-local variables are at `statics`, with that much dynamic shared
  /// memory.
  void begin_launch(const Region& statics, std::size_t dynamic_bytes);

  /// The offset of an address, if it is in shared memory.
  [[gnu::always_inline]] std::optional<std::size_t> offset(std::uintptr_t address) const {
    if (statics_.contains(address)) return address - statics_.begin;
    if (dynamic_.contains(address)) return dynamic_offset_ + (address - dynamic_.begin);
    return std::nullopt;
  }
  /// The same for an access of that many bytes, all of which are in it.
  [[gnu::always_inline]] std::optional<std::size_t> offset(std::uintptr_t address, unsigned bytes) const {
    if (statics_.contains(address, bytes)) return address - statics_.begin;
    if (dynamic_.contains(address, bytes)) return dynamic_offset_ + (address - dynamic_.begin);
    return std::nullopt;
  }
  /// The address at an offset.
  std::uintptr_t address(std::size_t offset) const {
    return offset < dynamic_offset_ ? statics_.begin + offset : dynamic_.begin + (offset - dynamic_offset_);
  }
  /// Largest offset that there can be, plus one.
  std::size_t bytes() const { return dynamic_offset_ + dynamic_.size; }

  const Region& statics() const { return statics_; }
  const Region& dynamic() const { return dynamic_; }
  /// Whether an address is near dynamic shared memory, where nothing else is.
  bool near_dynamic(std::uintptr_t address) const { return around_dynamic_.contains(address); }
  /// Whether an address is near the `__shared__` arrays.
  bool near_statics(std::uintptr_t address) const { return around_statics_.contains(address); }

 private:
  struct Storage;

  std::shared_ptr<Storage> memory_;  // made by the first launch
  Region statics_, dynamic_, around_dynamic_, around_statics_;
  std::size_t dynamic_offset_ = 0;  // where offsets of dynamic shared memory begin
};

/// That of the running block (device.cpp).
const SharedMemory& shared_memory();

}  // namespace cpu
