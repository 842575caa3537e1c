#include "cpu/shared_shadow.hpp"

#include <algorithm>

namespace cpu {

void SharedShadow::begin_block(unsigned threads) {
  ++phase_;
  ++block_;
  // Clocks go on from block to block: only their order counts.
  if (clock_.size() < threads) {
    clock_.resize(threads, 1);
    known_.resize(std::size_t{threads} * kWarpSize, 0);
  }
}

void SharedShadow::sync_warp(unsigned first_thread, std::uint32_t lanes) {
  std::uint32_t merged[kWarpSize] = {};
  for (const unsigned lane : lanes_of(lanes)) {
    const std::uint32_t* known = &known_[std::size_t{first_thread + lane} * kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l) merged[l] = std::max(merged[l], known[l]);
    merged[lane] = std::max(merged[lane], clock_[first_thread + lane]);
  }
  for (const unsigned lane : lanes_of(lanes)) {
    std::copy_n(merged, kWarpSize, &known_[std::size_t{first_thread + lane} * kWarpSize]);
    ++clock_[first_thread + lane];
  }
}

}  // namespace cpu
