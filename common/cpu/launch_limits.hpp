/// \file
/// The launch limits of a GPU of compute capability 9.0.
#pragma once

#include <cstddef>

#include "cpu/runtime.hpp"

namespace cpu {

constexpr unsigned kMostThreads = 1024;  ///< of a block
/// Static plus dynamic shared memory of a block.
constexpr std::size_t kMostSharedBytes = 227 * 1024;
/// `__shared__` arrays of a kernel together: what nvcc accepts.
constexpr std::size_t kMostStaticSharedBytes = 48 * 1024;

/// \throws Finding for a launch that a GPU would refuse
void check_launch(const Launch& launch);

}  // namespace cpu
