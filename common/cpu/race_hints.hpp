/// \file
/// What to check after a race: where the barrier may be missing.
#pragma once

#include <cstdint>
#include <string>

#include "cpu/access.hpp"

namespace cpu {

/// An access that takes part in a race, by the instruction that makes it; 0 where that is not known.
struct RacingAccess {
  std::uintptr_t instruction;
  AccessKind kind;
};

inline bool both_store(const RacingAccess& one, const RacingAccess& other) {
  return one.kind == AccessKind::kStore && other.kind == AccessKind::kStore;
}

/// Which barrier would have prevented a race between two threads of one block.
enum class Needs {
  kBlock,   ///< __syncthreads()
  kWarp,    ///< __syncwarp(): the block has one warp
  kEither,  ///< the two are lanes of one warp; whether other warps use the array is not known
};

/// Whether hints may name __syncwarp(). Without, they name __syncthreads(), which is right for lanes of one
/// warp too, for a reader who has not met the other yet. They may, unless this says otherwise.
void set_names_syncwarp(bool names);

/// The hint for a race between two threads of one block, in the order in which they ran here. A barrier may
/// be missing between the two lines, or after the later line, before the earlier one runs again in a loop's
/// next iteration. The hint names both places, unless the barrier that the block passed last is between the
/// lines: then only the second is left.
std::string missing_barrier(const RacingAccess& one, const RacingAccess& other, Needs needs);

/// The hint for a race between threads of two blocks: that both store, or that one of them may only read.
std::string blocks_race(bool both_store);

/// The hint for a race between threads of two GPUs.
std::string gpus_race(bool both_store);

/// The hint for a race of a volatile access, between two warps or blocks: it may be a flag that one of them
/// waits for, and then a barrier would wait for ever. `otherwise` is the hint if it is none.
std::string volatile_race(const std::string& otherwise);

}  // namespace cpu
