/// \file
/// Which bytes of an array the host or a kernel has written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cpu {

/// A bit for each byte. Offsets count from the start of the array's pages.
class WrittenBytes {
 public:
  explicit WrittenBytes(std::size_t bytes) : groups_(bytes / kGroup) {}

  /// Whether all `size` bytes at `offset` have been written; they are within an aligned 16.
  bool has(std::size_t offset, unsigned size) const {
    const unsigned bits = mask(offset, size);
    return (groups_[offset / kGroup] & bits) == bits;
  }
  /// Marks `size` bytes within an aligned 16.
  void add(std::size_t offset, unsigned size) {
    groups_[offset / kGroup] |= static_cast<std::uint16_t>(mask(offset, size));
  }
  /// Marks the bytes [begin, end) as written or as never written.
  void set(std::size_t begin, std::size_t end, bool written);
  /// Marks what is marked in `other`, from byte `begin` on, a multiple of 16, as far as `end`.
  void add(const WrittenBytes& other, std::size_t begin, std::size_t end);
  /// The marks of the bytes [begin, end), and of the rest of the 16 at both ends.
  std::span<std::uint16_t> groups(std::size_t begin, std::size_t end) {
    return std::span(groups_).subspan(begin / kGroup, (end + kGroup - 1) / kGroup - begin / kGroup);
  }

 private:
  static constexpr std::size_t kGroup = 16;
  static unsigned mask(std::size_t offset, unsigned size) { return ((1u << size) - 1) << offset % kGroup; }

  std::vector<std::uint16_t> groups_;  // of 16 bytes each
};

}  // namespace cpu
