/// \file
/// The race detector's shadow of an array in device memory: which thread accessed each word last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace cpu {

/// The last accesses of a 4-byte word. Fourteen bytes, so that all shadows of an array together take less
/// than four times its size; only what a kernel touches becomes real memory.
struct [[gnu::packed]] LastAccess {
  /// Linear number of the thread in the grid plus one in the upper 28 bits, 0 for none; the word's bytes, a
  /// bit each, in the lower 4.
  std::uint32_t writer, reader;
  /// Barriers that its block had passed. The top bit of the writer's says whether it was atomic.
  std::uint16_t writer_phase, reader_phase;
  std::uint8_t writer_site, reader_site;  ///< number of the instruction
};
static_assert(sizeof(LastAccess) == 14);

constexpr std::uint32_t kMostTracedThreads = (1u << 28) - 1;  ///< of a grid that is checked for races
constexpr std::uint16_t kMostPhases = 0x7fff;                 ///< of a block that is checked for races
constexpr std::uint16_t kAtomicPhase = 0x8000;

/// A LastAccess for each word of an array, cleared chunk by chunk when a launch first comes to one.
class LastAccesses {
 public:
  static constexpr std::size_t kChunk = 1024;  ///< words that are cleared together

  /// \throws std::bad_alloc
  explicit LastAccesses(std::size_t bytes);

  /// The last accesses in launch number `launch` from word `first` to the end of its chunk.
  LastAccess* from(std::size_t first, std::uint32_t launch) {
    std::uint32_t& cleared_for = chunk_launch_[first / kChunk];
    if (cleared_for != launch) {
      cleared_for = launch;
      std::memset(&words_[first / kChunk * kChunk], 0, kChunk * sizeof(LastAccess));
    }
    return &words_[first];
  }
  /// What the launch has noted of that word, or null if it has not come to the word's chunk.
  const LastAccess* find(std::size_t word, std::uint32_t launch) const {
    return chunk_launch_[word / kChunk] == launch ? &words_[word] : nullptr;
  }

 private:
  std::unique_ptr<LastAccess[], decltype(&std::free)> words_;
  std::vector<std::uint32_t> chunk_launch_;  // by chunk: the launch that it was cleared for
};

}  // namespace cpu
