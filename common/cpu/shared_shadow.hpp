/// \file
/// The shadow of a block's shared memory: which thread accessed each word last. It finds reads of bytes that
/// nothing has written, and races.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/access.hpp"
#include "cpu/lanes.hpp"

namespace cpu {

/// One access by a thread of the running block.
struct ThreadAccess {
  unsigned thread;  ///< linear index in the block
  std::uintptr_t instruction;
  AccessKind kind;
};

/// Two accesses of a byte by different threads race when at least one writes, not both are atomic, and
/// nothing orders them: no barrier of the block between them, and no __syncwarp if both are in one warp.
/// Shuffles and votes do not order memory (CUDA C++ Programming Guide, "Warp Vote Functions").
///
/// A word remembers its last writer and two readers. So a correct kernel is never reported; a race among more
/// threads can be missed, but not one between two threads alone.
class SharedShadow {
 public:
  enum class Verdict { kFine, kUninitialised, kRace };

  void resize(std::size_t bytes) { words_.resize((bytes + 3) / 4); }

  void begin_block(unsigned threads);
  /// The block passes a barrier: all accesses so far are ordered before all later ones.
  void barrier() { ++phase_; }
  /// The same for those lanes of the warp whose first lane is that thread.
  void sync_warp(unsigned first_thread, std::uint32_t lanes);

  /// Checks an access of `size` bytes at `offset` and records it. In a race, `other` becomes the earlier
  /// access.
  Verdict access(std::size_t offset, unsigned size, const ThreadAccess& access, ThreadAccess* other);

 private:
  /// An access of some of a word's bytes in phase `phase`; 0 is before the first.
  struct Record {
    std::uint64_t phase = 0;
    std::uintptr_t instruction = 0;
    std::uint32_t clock = 0;
    std::uint16_t thread = 0;
    std::uint8_t bytes = 0;  // a bit each
    AccessKind kind = AccessKind::kLoad;
  };
  struct Word {
    Record writer, reader, other_reader;
    std::uint64_t block = 0;   // the last that wrote here
    std::uint8_t written = 0;  // the bytes that it wrote
  };

  bool conflicts(const Record& earlier, std::uint8_t bytes, const ThreadAccess& access) const;
  Verdict access_word(Word& word, std::uint8_t bytes, const ThreadAccess& access, ThreadAccess* other);

  std::vector<Word> words_;
  std::uint64_t phase_ = 0, block_ = 0;
  // Vector clocks within warps: known_[32 * t + l] is the last moment of lane l that thread t is ordered
  // after.
  std::vector<std::uint32_t> clock_, known_;
};

// Inline because every access to shared memory comes here.

[[gnu::always_inline]] inline bool SharedShadow::conflicts(const Record& earlier, std::uint8_t bytes,
                                                           const ThreadAccess& access) const {
  if (earlier.phase != phase_ || earlier.thread == access.thread || !(earlier.bytes & bytes)) return false;
  if (earlier.kind == AccessKind::kAtomic && access.kind == AccessKind::kAtomic) return false;
  if (earlier.thread / kWarpSize != access.thread / kWarpSize) return true;
  return known_[std::size_t{access.thread} * kWarpSize + earlier.thread % kWarpSize] < earlier.clock;
}

[[gnu::always_inline]] inline SharedShadow::Verdict SharedShadow::access_word(Word& word, std::uint8_t bytes,
                                                                              const ThreadAccess& access,
                                                                              ThreadAccess* other) {
  if (word.block != block_) {
    word.block = block_;
    word.written = 0;
  }
  const bool reads = access.kind != AccessKind::kStore, writes = access.kind != AccessKind::kLoad;
  if (reads && (word.written & bytes) != bytes) return Verdict::kUninitialised;

  const Record* race = nullptr;
  if (conflicts(word.writer, bytes, access)) race = &word.writer;
  if (writes && conflicts(word.reader, bytes, access)) race = &word.reader;
  if (writes && conflicts(word.other_reader, bytes, access)) race = &word.other_reader;
  if (race) {
    *other = {race->thread, race->instruction, race->kind};
    return Verdict::kRace;
  }

  const Record record = {
      phase_, access.instruction, clock_[access.thread], static_cast<std::uint16_t>(access.thread),
      bytes,  access.kind};
  // The thread's earlier bytes count only as long as nothing has ordered them.
  const auto renew = [&](Record& last) {
    const bool goes_on =
        last.phase == record.phase && last.thread == record.thread && last.clock == record.clock;
    const std::uint8_t before = goes_on ? last.bytes : 0;
    last = record;
    last.bytes |= before;
  };
  if (writes) {
    word.written |= bytes;
    renew(word.writer);
  } else if (word.reader.phase != phase_ || word.reader.thread == record.thread) {
    renew(word.reader);
  } else {
    word.other_reader = record;
  }
  return Verdict::kFine;
}

[[gnu::always_inline]] inline SharedShadow::Verdict SharedShadow::access(std::size_t offset, unsigned size,
                                                                         const ThreadAccess& access,
                                                                         ThreadAccess* other) {
  if (size < 4) {
    const auto bytes = static_cast<std::uint8_t>(((1u << size) - 1) << offset % 4);
    return access_word(words_[offset / 4], bytes, access, other);
  }
  for (unsigned word = 0; word < size / 4; ++word) {
    const Verdict verdict = access_word(words_[offset / 4 + word], 0xf, access, other);
    if (verdict != Verdict::kFine) return verdict;
  }
  return Verdict::kFine;
}

}  // namespace cpu
