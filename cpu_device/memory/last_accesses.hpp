/// \file
/// The race detector's notes on an array in device memory: who accessed each word last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "cpu_device/memory/word_history.hpp"

namespace cpu {

/// A WordHistory for each word of an array, cleared chunk by chunk when a launch first comes to one. Only
/// what a kernel touches becomes real memory.
class LastAccesses {
 public:
  static constexpr std::size_t kChunk = 1024;  ///< words that are cleared together

  /// \throws std::bad_alloc
  explicit LastAccesses(std::size_t bytes);

  /// The histories in launch number `launch` from word `first` to the end of its chunk.
  WordHistory* from(std::size_t first, std::uint32_t launch) {
    std::uint32_t& cleared_for = chunk_launch_[first / kChunk];
    if (cleared_for != launch) {
      cleared_for = launch;
      std::memset(static_cast<void*>(&words_[first / kChunk * kChunk]), 0, kChunk * sizeof(WordHistory));
    }
    return &words_[first];
  }
  /// Whether that launch has come to the word's chunk.
  bool is_of(std::size_t word, std::uint32_t launch) const { return chunk_launch_[word / kChunk] == launch; }
  WordHistory* at(std::size_t word) { return &words_[word]; }
  /// The launch's histories from that word on, or null if it has not come to the word's chunk.
  WordHistory* find(std::size_t word, std::uint32_t launch) const {
    return is_of(word, launch) ? &words_[word] : nullptr;
  }

  /// Calls `visit` with each history of that launch.
  template <class Visit>
  void for_each(std::uint32_t launch, Visit visit) {
    for (std::size_t chunk = 0; chunk < chunk_launch_.size(); ++chunk)
      for (std::size_t i = 0; chunk_launch_[chunk] == launch && i < kChunk; ++i)
        visit(words_[chunk * kChunk + i]);
  }

 private:
  std::unique_ptr<WordHistory[], decltype(&std::free)> words_;
  std::vector<std::uint32_t> chunk_launch_;  // by chunk: the launch that it was cleared for
};

}  // namespace cpu
