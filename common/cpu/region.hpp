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
};

}  // namespace cpu
