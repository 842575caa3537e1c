/// \file
/// A range of addresses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cpu {

struct Region {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  bool contains(std::uintptr_t address) const { return address - begin < size; }
  /// Whether it contains all of `bytes` bytes, at least one.
  bool contains(std::uintptr_t address, std::size_t bytes) const {
    const std::size_t offset = address - begin;
    return offset < size && size - offset >= bytes;
  }
};

}  // namespace cpu
