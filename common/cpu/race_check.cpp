#include "cpu/race_check.hpp"

namespace cpu {

void RaceCheck::begin_block(std::size_t block) {
  first_thread_ = static_cast<std::uint32_t>(block * launch_.threads_per_block);
  on_ = launch_.blocks() * launch_.threads_per_block <= kMostTracedThreads;
  phase_ = 0;
  synced_warps_ = 0;
  fenced_ = took_part_ = false;
}

void RaceCheck::pass_barrier() {
  synced_warps_ = 0;
  if (++phase_ == kMostPhases) on_ = false;
}

void RaceCheck::add_atomic() {
  took_part_ = true;
  if (fenced_) launch_.published[first_thread_ / launch_.threads_per_block] = true;
}

}  // namespace cpu
