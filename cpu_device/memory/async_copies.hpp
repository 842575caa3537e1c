/// \file
/// The asynchronous copies of a block's threads to shared memory that are in flight.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cpu {

/// A copy of 4, 8 or 16 bytes. Source and destination are multiples of its size.
struct AsyncCopy {
  std::size_t offset;  ///< of its destination in shared memory
  unsigned size;
  std::uintptr_t instruction;
  unsigned thread;      ///< that issued it, by its number in the block
  std::uint64_t group;  ///< the number of the commit that it belongs to
};

/// A copy writes its destination at some moment between its issue and the wait that completes it. So it
/// counts as two writes, one at the issue and one at the wait, each of which may race with other accesses. No
/// thread may access the destination while the copy is in flight.
class AsyncCopies {
 public:
  /// Makes room for copies to so many bytes of shared memory.
  void resize(std::size_t shared_bytes) { copier_.resize(std::max(copier_.size(), (shared_bytes + 3) / 4)); }

  /// Drops the copies that the last block left in flight.
  void begin_block(unsigned threads);

  void issue(unsigned thread, std::size_t offset, unsigned size, std::uintptr_t instruction);
  void commit(unsigned thread) { ++threads_[thread].commits; }
  /// Completes the thread's copies of all commits but the last `left`, and returns them.
  std::vector<AsyncCopy> wait(unsigned thread, std::uint64_t left);

  /// A copy in flight to one of those bytes, or null. The bytes are within an aligned 16.
  const AsyncCopy* to(std::size_t offset, unsigned size) const {
    return in_flight_ == 0 ? nullptr : find(offset, size);
  }
  /// Whether a copy is in flight to one of `count` words at `offset`.
  bool any_to(std::size_t offset, unsigned count) const {
    for (unsigned i = 0; in_flight_ > 0 && i < count; ++i)
      if (copier_[offset / 4 + i] != 0) return true;
    return false;
  }

 private:
  struct Thread {
    std::uint64_t commits = 0;
    std::vector<AsyncCopy> copies;  ///< in flight, in the order of their issue
  };

  const AsyncCopy* find(std::size_t offset, unsigned size) const;
  void mark(const AsyncCopy& copy, std::uint16_t copier);

  std::vector<Thread> threads_;
  std::vector<std::uint16_t> copier_;  ///< by word of shared memory: the thread plus one, or 0
  std::size_t in_flight_ = 0;
};

}  // namespace cpu
