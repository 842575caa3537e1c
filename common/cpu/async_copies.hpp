/// \file
/// The asynchronous copies of a block's threads to shared memory that are under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cpu {

/// A copy of 4, 8 or 16 bytes, as many aligned.
struct AsyncCopy {
  std::size_t offset;  ///< of its destination in shared memory
  unsigned size;
  std::uintptr_t instruction;
  unsigned thread;      ///< that has begun it, by its number in the block
  std::uint64_t group;  ///< the number of the commit that it belongs to
};

/// A copy writes its destination at some moment from its issue to the wait that ends it. So it counts as two
/// writes, one at either end, each of which may race with what others do, and nobody may touch the
/// destination between them.
class AsyncCopies {
 public:
  void resize(std::size_t shared_bytes) { copier_.resize((shared_bytes + 3) / 4); }

  /// Drops what the last block has left.
  void begin_block(unsigned threads);

  void issue(unsigned thread, std::size_t offset, unsigned size, std::uintptr_t instruction);
  void commit(unsigned thread) { ++threads_[thread].commits; }
  /// Ends the thread's copies of all commits but the last `left`, and returns them.
  std::vector<AsyncCopy> wait(unsigned thread, std::uint64_t left);

  /// A copy under way to one of those bytes, or null. They lie within an aligned 16.
  const AsyncCopy* to(std::size_t offset, unsigned size) const {
    return in_flight_ == 0 ? nullptr : find(offset, size);
  }

 private:
  struct Thread {
    std::uint64_t commits = 0;
    std::vector<AsyncCopy> copies;  ///< under way, in the order of their issue
  };

  const AsyncCopy* find(std::size_t offset, unsigned size) const;
  void mark(const AsyncCopy& copy, std::uint16_t copier);

  std::vector<Thread> threads_;
  std::vector<std::uint16_t> copier_;  ///< by word of shared memory: the thread plus one, or 0
  std::size_t in_flight_ = 0;
};

}  // namespace cpu
