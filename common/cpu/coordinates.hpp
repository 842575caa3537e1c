/// \file
/// Linear numbers of threads and blocks, and their coordinates: x counts fastest.
#pragma once

#include <cstddef>

#include "cpu/runtime.hpp"

namespace cpu {

constexpr uint3 coordinates(unsigned number, const uint3& extent) {
  if (extent.y == 1 && extent.z == 1) return {number, 0, 0};
  return {number % extent.x, number / extent.x % extent.y, number / extent.x / extent.y};
}

constexpr std::size_t linear_number(const uint3& at, const uint3& extent) {
  return (std::size_t{at.z} * extent.y + at.y) * extent.x + at.x;
}

}  // namespace cpu
