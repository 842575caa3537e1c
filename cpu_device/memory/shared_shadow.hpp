/// \file
/// The notes on a block's shared memory: what has been written, and who accessed each word last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu_device/memory/word_history.hpp"

namespace cpu {

/// Offsets count the bytes of shared memory (shared_memory.hpp).
class SharedShadow {
 public:
  /// Makes room for so many bytes.
  void resize(std::size_t bytes) {
    words_.resize(std::max(words_.size(), (bytes + 3) / 4));
    histories_.resize(words_.size());
  }
  /// Nothing is written yet.
  void begin_block() {
    if (++block_ == 1u << 28) {
      std::fill(words_.begin(), words_.end(), 0);
      block_ = 1;
    }
  }

  /// For each word, the bytes of it that the block has written.
  std::vector<unsigned char> written() const {
    std::vector<unsigned char> bytes(words_.size());
    for (std::size_t word = 0; word < words_.size(); ++word)
      if (words_[word] >> 4 == block_) bytes[word] = words_[word] & 0xf;
    return bytes;
  }
  /// Nothing but those bytes is written yet.
  void begin_block(const std::vector<unsigned char>& written) {
    begin_block();
    for (std::size_t word = 0; word < written.size(); ++word)
      if (written[word]) fresh(word) |= written[word];
  }

  /// Marks `size` bytes at `offset` as written.
  void write(std::size_t offset, unsigned size) {
    for (std::size_t word = offset / 4; word <= (offset + size - 1) / 4; ++word)
      fresh(word) |= bytes_of(word, offset, size);
  }
  /// Whether the block has written all of `size` bytes at `offset`.
  bool has(std::size_t offset, unsigned size) {
    for (std::size_t word = offset / 4; word <= (offset + size - 1) / 4; ++word)
      if (bytes_of(word, offset, size) & ~fresh(word)) return false;
    return true;
  }
  // The same for `count` whole words.
  void write_words(std::size_t offset, unsigned count) {
    for (unsigned i = 0; i < count; ++i) fresh(offset / 4 + i) |= 0xf;
  }
  bool has_words(std::size_t offset, unsigned count) const {
    for (unsigned i = 0; i < count; ++i)
      if (words_[offset / 4 + i] != (block_ << 4 | 0xf)) return false;
    return true;
  }
  /// The histories from the word at `offset` on; `write` or `has` must have been called for these words.
  WordHistory* from(std::size_t offset) { return &histories_[offset / 4]; }
  /// Calls `visit` with each history of the block.
  template <class Visit>
  void for_each(Visit visit) {
    for (std::size_t word = 0; word < words_.size(); ++word)
      if (words_[word] >> 4 == block_) visit(histories_[word]);
  }

 private:
  static unsigned bytes_of(std::size_t word, std::size_t offset, unsigned size) {
    if (size >= 4) return 0xf;
    return ((1u << size) - 1) << (offset - 4 * word);
  }
  std::uint32_t& fresh(std::size_t index) {
    std::uint32_t& word = words_[index];
    if (word >> 4 != block_) {
      word = block_ << 4;
      histories_[index] = {};
    }
    return word;
  }

  std::uint32_t block_ = 0;
  std::vector<std::uint32_t> words_;  // the last block that came here, and in 4 bits the bytes that it wrote
  std::vector<WordHistory> histories_;
};

}  // namespace cpu
