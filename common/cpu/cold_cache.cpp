#include "cpu/cold_cache.hpp"

#include <algorithm>

namespace cpu {
namespace {

/// Sets a bit and returns whether it was clear.
bool set_bit(std::vector<std::uint64_t>& bits, std::size_t index) {
  const std::uint64_t bit = std::uint64_t{1} << (index % 64);
  std::uint64_t& word = bits[index / 64];
  const bool was_clear = !(word & bit);
  word |= bit;
  return was_clear;
}

bool has_bit(const std::vector<std::uint64_t>& bits, std::size_t index) {
  return bits[index / 64] >> (index % 64) & 1;
}

}  // namespace

ColdCache::ColdCache(std::size_t bytes) : read_pairs_(bytes / 64 / 64), written_sectors_(bytes / 32 / 64) {}

unsigned ColdCache::read(std::size_t offset) {
  if (has_bit(written_sectors_, offset / 32)) return 0;
  touched_ = true;
  return set_bit(read_pairs_, offset / 64) ? 64 : 0;
}

unsigned ColdCache::write(std::size_t offset) {
  touched_ = true;
  return set_bit(written_sectors_, offset / 32) ? 32 : 0;
}

void ColdCache::clear() {
  if (!touched_) return;
  std::fill(read_pairs_.begin(), read_pairs_.end(), 0);
  std::fill(written_sectors_.begin(), written_sectors_.end(), 0);
  touched_ = false;
}

}  // namespace cpu
