/// \file
/// The launch limits of a GPU.
#pragma once

#include <cstddef>
#include <string>

#include "cpu_device/dialect/runtime.hpp"
#include "cpu_device/memory/shared_memory.hpp"

namespace cpu {

constexpr unsigned kMostThreads = 1024;  ///< of a block

/// What differs between cards. The default is an H200's.
struct CardLimits {
  std::string name = {};  ///< for messages; empty: the card is not named
  int multiprocessors = 132;
  std::size_t threads = 2048, blocks = 32;  ///< of a multiprocessor, at once
  std::size_t shared_bytes = 228 * 1024;    ///< of a multiprocessor
  /// Static and dynamic shared memory of a block. Each block has the difference to shared_bytes besides,
  /// which is reserved.
  std::size_t most_shared_bytes = kMostSharedBytes;
};
const CardLimits& card_limits();
void set_card_limits(const CardLimits& limits);

/// \throws Finding for a launch that a GPU would refuse
void check_launch(const Launch& launch);

}  // namespace cpu
