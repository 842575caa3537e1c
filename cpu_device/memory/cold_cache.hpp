/// \file
/// The DRAM traffic that one array costs a launch that starts with a cold cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cpu {

/// Which sectors of an array a launch has read and written. Offsets count bytes from the start of the array's
/// pages, and so are aligned as addresses are.
class ColdCache {
 public:
  explicit ColdCache(std::size_t bytes);

  /// The launch reads the sector at `offset`. That costs DRAM traffic unless the launch itself wrote it.
  void read(std::size_t offset);
  void write(std::size_t offset);

  /// The bytes that a cold cache fetches: 64 for each pair of sectors of which one is read.
  long long read_bytes() const;
  /// The bytes that must reach DRAM: 32 for each sector that is written.
  long long written_bytes() const;

  // What several cores have noted (array_parts.hpp), 64 sectors at a time.
  bool touched() const { return touched_; }
  /// Whether the launch has both read and written a sector, in either order.
  bool overlaps() const { return overlaps_; }
  std::size_t groups() const { return read_sectors_.size(); }
  /// The sectors of a group that were read before they were written.
  std::uint64_t read_sectors(std::size_t group) const { return read_sectors_[group]; }
  std::uint64_t written_sectors(std::size_t group) const { return written_sectors_[group]; }
  /// Adds what blocks after those so far have read and written.
  void add(const ColdCache& later);

  /// Starts a new launch.
  void clear();

 private:
  bool touched_ = false, overlaps_ = false;
  std::vector<std::uint64_t> read_sectors_, written_sectors_;  // a bit for each 32-byte sector
};

}  // namespace cpu
