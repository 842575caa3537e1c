/// \file
/// The record of the accesses to a word, and its form.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace cpu {

/// A point in the program of a thread of the running block (happens_before.hpp).
using Moment = std::uint16_t;

/// How an access takes part in races. Strong ones, which are atomics and volatile accesses to flags, do not
/// race with one another.
enum class Role : std::uint8_t { kRead, kWrite, kStrong };

/// The same access by several threads at the same moment: to the same bytes of a word, or each to an element
/// of its own.
struct AccessGroup {
  std::uint32_t first;        ///< thread, by its linear number in the grid
  std::uint16_t threads = 1;  ///< how many
  std::uint16_t stride = 1;   ///< from one thread to the next
  std::uint32_t blocks = 1;   ///< in how many blocks
  std::uint32_t block_stride = 1;
  Moment moment;
  std::uint8_t bytes;        ///< of the word, a bit each
  std::uint8_t element = 0;  ///< not 0: thread number i accesses, of `bytes`, its i-th element of that size
  Role role;
  std::uint8_t site;  ///< number of the instruction; 0 when unknown

  /// The bytes that thread number i of the group accesses.
  std::uint8_t bytes_of(unsigned i) const {
    if (!element) return bytes;
    return static_cast<std::uint8_t>(((1u << element) - 1) << (std::countr_zero(bytes) + i * element));
  }
};

/// The accesses to a 4-byte word that a later one could race with, in 24 bytes: the usual case is one writer
/// and one group of readers. Others are kept elsewhere (race_check.hpp).
struct WordHistory {
  // A thread plus one in the upper 28 bits, 0 for none; its bytes of the word, a bit each, in the lower 4.
  std::uint32_t writer, reader, other;  ///< `other`: a reader that is not in the group that `reader` begins
  Moment writer_moment, reader_moment, other_moment;
  std::uint16_t readers;  ///< how many threads `reader` stands for, minus one; and how far apart they are
  std::uint8_t writer_site, reader_site, other_site;
  std::uint8_t flags;

  static constexpr std::uint16_t kCount = 0x3ff;  ///< of `readers`: the number of threads minus one
  static constexpr unsigned kStrideShift = 10;    ///< above it: the logarithm of their distance
  static constexpr std::uint8_t kMore = 1;        ///< there are groups elsewhere
  static constexpr std::uint8_t kReaderStrong = 2, kOtherStrong = 4;  ///< Role::kStrong, not kRead
  static constexpr unsigned kWriterElement = 3,
                            kReaderElement = 5;  ///< shift of AccessGroup::element, 2 bits
  /// There are several groups of plain reads, and besides at most one write: what races with a reader that is
  /// left out races with one of those kept, so not all need be.
  static constexpr std::uint8_t kReadersSuffice = 0x80;
};
static_assert(sizeof(WordHistory) == 24);

constexpr std::uint32_t kMostTracedThreads = (1u << 28) - 1;  ///< of a grid that is checked for races

}  // namespace cpu
