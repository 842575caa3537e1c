/// \file
/// Who touched each word of a block's shared memory last: finds reads of what nothing wrote, and races.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/wavefronts.hpp"

namespace cpu {

enum class AccessKind : unsigned char { kLoad, kStore, kAtomic };

/// One access by a thread of the running block.
struct ThreadAccess {
  unsigned thread;  ///< linear index in the block
  std::uintptr_t instruction;
  AccessKind kind;
};

/// Two accesses of a byte by different threads race when at least one writes, not both are atomic, and
/// nothing orders them: no barrier of the block between, nor a __syncwarp of lanes of one warp. Shuffles and
/// votes order no memory (CUDA C++ Programming Guide, "Warp Vote Functions").
///
/// A word remembers its last writer and two readers. That never reports a correct kernel; a race among more
/// threads than that can be overlooked, but not when two threads alone take part.
class SharedShadow {
 public:
  enum class Verdict { kFine, kUninitialised, kRace };

  void resize(std::size_t bytes) { words_.resize((bytes + 3) / 4); }

  void begin_block(unsigned threads);
  /// All accesses so far are ordered before all to come.
  void barrier() { ++phase_; }
  /// The same for those lanes of a warp, by thread index of its first lane.
  void sync_warp(unsigned first_thread, std::uint32_t lanes);

  /// Notes the access of `size` bytes at `offset` and judges it; of a race, `other` becomes the earlier
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

}  // namespace cpu
