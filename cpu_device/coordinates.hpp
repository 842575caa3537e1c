/// \file
/// Linear numbers of threads and blocks, and their coordinates: x counts fastest.
#pragma once

#include <cstddef>

#include "cpu_device/dialect/runtime.hpp"

namespace cpu {

constexpr uint3 coordinates(unsigned number, const uint3& extent) {
  if (extent.y == 1 && extent.z == 1) return {number, 0, 0};
  return {number % extent.x, number / extent.x % extent.y, number / extent.x / extent.y};
}

}  // namespace cpu
