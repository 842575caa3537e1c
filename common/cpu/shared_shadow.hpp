/// \file
/// The notes on a block's shared memory: what has been written, and who accessed each word last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/word_history.hpp"

namespace cpu {

/// Offsets count the bytes of shared memory (shared_memory.hpp).
class SharedShadow {
 public:
  void resize(std::size_t bytes) {
    words_.resize((bytes + 3) / 4);
    histories_.resize(words_.size());
  }
  /// Nothing is written yet.
  void begin_block() { ++block_; }

  /// Marks `size` bytes at `offset` as written.
  [[gnu::always_inline]] void write(std::size_t offset, unsigned size) {
    for (std::size_t word = offset / 4; word <= (offset + size - 1) / 4; ++word)
      fresh(word).written |= bytes_of(word, offset, size);
  }
  /// Whether the block has written all of `size` bytes at `offset`.
  [[gnu::always_inline]] bool has(std::size_t offset, unsigned size) {
    for (std::size_t word = offset / 4; word <= (offset + size - 1) / 4; ++word) {
      const std::uint8_t bytes = bytes_of(word, offset, size);
      if ((fresh(word).written & bytes) != bytes) return false;
    }
    return true;
  }
  /// The histories from the word at `offset` on: of words that `write` or `has` has been asked for.
  WordHistory* from(std::size_t offset) { return &histories_[offset / 4]; }
  /// Calls `visit` with each history of the block.
  template <class Visit>
  void for_each(Visit visit) {
    for (std::size_t word = 0; word < words_.size(); ++word)
      if (words_[word].block == block_) visit(histories_[word]);
  }

 private:
  struct Word {
    std::uint32_t block = 0;   // the last that came here
    std::uint8_t written = 0;  // the bytes that it wrote
  };

  static std::uint8_t bytes_of(std::size_t word, std::size_t offset, unsigned size) {
    if (size >= 4) return 0xf;
    return static_cast<std::uint8_t>(((1u << size) - 1) << (offset - 4 * word));
  }
  [[gnu::always_inline]] Word& fresh(std::size_t index) {
    Word& word = words_[index];
    if (word.block != block_) {
      word = {block_, 0};
      histories_[index] = {};
    }
    return word;
  }

  std::uint32_t block_ = 0;
  std::vector<Word> words_;
  std::vector<WordHistory> histories_;
};

}  // namespace cpu
