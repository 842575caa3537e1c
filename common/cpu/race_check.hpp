/// \file
/// Finds races between threads that access device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/access.hpp"
#include "cpu/access_mistakes.hpp"
#include "cpu/buffer.hpp"
#include "cpu/lanes.hpp"
#include "cpu/launch_state.hpp"

namespace cpu {

/// Two accesses of a byte by different threads race when at least one writes, not both are atomic, and
/// nothing orders them. Threads of one block are ordered by a barrier between the two accesses, those of one
/// warp also by a __syncwarp since the last barrier. Blocks are ordered by a fence and an atomic after the
/// earlier access and an atomic before the later one: the protocol of the last-block reduction. Which counter
/// the atomics use is not checked, so that no correct kernel is reported.
///
/// Belongs to one block at a time. It reads and writes the shadows of the arrays, which all blocks share.
class RaceCheck {
 public:
  explicit RaceCheck(LaunchState& launch) : launch_(launch) {}

  /// Starts the block with that number in the grid.
  void begin_block(std::size_t block);
  /// All threads of the block have passed a barrier.
  void pass_barrier();
  /// Lanes of that warp have passed a __syncwarp.
  void sync_warp(unsigned warp) { synced_warps_ |= 1u << warp; }
  /// A thread of the block has passed __threadfence.
  void fence() { fenced_ = true; }
  /// A thread of the block has done an atomic on device memory.
  void add_atomic();

  /// Whether grid and block are small enough for the shadows.
  bool is_on() const { return on_; }
  /// Checks an access by that thread of the block and records it, under the number of its instruction. Stops
  /// the launch at a race.
  void check(const Access& access, Buffer& buffer, unsigned thread, std::uint8_t site) const;

 private:
  bool ordered_after(std::uint32_t earlier, std::uint16_t phase, unsigned thread) const;

  LaunchState& launch_;
  bool on_ = false;
  std::uint32_t first_thread_ = 0;  // of the block, in the grid
  std::uint16_t phase_ = 0;         // barriers that the block has passed
  std::uint32_t synced_warps_ = 0;  // a bit for each warp with a __syncwarp since the last barrier
  bool fenced_ = false;
  bool took_part_ = false;  // a thread of the block has done an atomic
};

// Inline because every access to device memory comes here.

/// Whether thread number `thread` of the block runs after what `earlier`, another thread of the grid, did in
/// phase `phase` of its block.
[[gnu::always_inline]] inline bool RaceCheck::ordered_after(std::uint32_t earlier, std::uint16_t phase,
                                                            unsigned thread) const {
  const std::uint32_t in_block = launch_.threads_per_block;
  if (earlier - first_thread_ >= in_block) return took_part_ && launch_.published[earlier / in_block];
  if (phase != phase_) return true;
  const std::uint32_t warp = thread / kWarpSize;
  return (earlier - first_thread_) / kWarpSize == warp && (synced_warps_ >> warp & 1);
}

[[gnu::always_inline]] inline void RaceCheck::check(const Access& access, Buffer& buffer, unsigned thread,
                                                    std::uint8_t site) const {
  const std::uint32_t me = first_thread_ + thread;
  const unsigned size = access.size, count = (size + 3) / 4;
  const std::uint32_t whole = size >= 4 ? 0xfu : ((1u << size) - 1) << access.address % 4;
  const std::uint32_t last = size > 4 && size % 4 != 0 ? (1u << size % 4) - 1 : whole;
  const bool atomic = access.kind == AccessKind::kAtomic;
  LastAccess* const words =
      buffer.last_accesses.from((access.address - buffer.pages.begin) / 4, launch_.number);
  for (unsigned w = 0; w < count; ++w) {
    const std::uint32_t bytes = w + 1 == count ? last : whole;
    LastAccess& word = words[w];
    const std::uint32_t writer = (word.writer >> 4) - 1, reader = (word.reader >> 4) - 1;
    if (word.writer & bytes && writer != me && !(atomic && word.writer_phase & kAtomicPhase) &&
        !ordered_after(writer, word.writer_phase & kMostPhases, thread))
      race_in_global(access, buffer, writer,
                     word.writer_phase & kAtomicPhase ? AccessKind::kAtomic : AccessKind::kStore,
                     word.writer_site);
    if (access.kind == AccessKind::kLoad) {
      word.reader = (me + 1) << 4 | bytes;
      word.reader_phase = phase_;
      word.reader_site = site;
      continue;
    }
    if (word.reader & bytes && reader != me && !ordered_after(reader, word.reader_phase, thread))
      race_in_global(access, buffer, reader, AccessKind::kLoad, word.reader_site);
    // A barrier orders the bytes that the thread wrote before it: they no longer matter.
    const std::uint16_t phase = phase_ | (atomic ? kAtomicPhase : 0);
    const std::uint32_t before = writer == me && word.writer_phase == phase ? word.writer & 0xf : 0;
    word.writer = (me + 1) << 4 | bytes | before;
    word.writer_phase = phase;
    word.writer_site = site;
  }
}

}  // namespace cpu
