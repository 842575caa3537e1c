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

  /// Counts a read of the sector at `offset`. Returns the bytes that a cold cache fetches for it: 64 the
  /// first time, since DRAM is read in pairs of sectors; 0 later, or when the launch itself wrote the sector.
  unsigned read(std::size_t offset);
  /// Counts a write. Returns the bytes that must reach DRAM: 32 the first time, then 0.
  unsigned write(std::size_t offset);
  /// Starts a new launch.
  void clear();

 private:
  bool touched_ = false;
  std::vector<std::uint64_t> read_pairs_;       // a bit for each 64-byte pair of sectors
  std::vector<std::uint64_t> written_sectors_;  // a bit for each 32-byte sector
};

}  // namespace cpu
