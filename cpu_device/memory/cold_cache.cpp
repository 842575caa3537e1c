#include "cpu_device/memory/cold_cache.hpp"

#include <algorithm>
#include <bit>

namespace cpu {
namespace {

std::uint64_t bit(std::size_t offset) { return std::uint64_t{1} << offset / 32 % 64; }

}  // namespace

ColdCache::ColdCache(std::size_t bytes) : read_sectors_(bytes / 32 / 64), written_sectors_(bytes / 32 / 64) {}

void ColdCache::read(std::size_t offset) {
  const std::size_t group = offset / 32 / 64;
  touched_ = true;
  overlaps_ |= (written_sectors_[group] & bit(offset)) != 0;
  read_sectors_[group] |= bit(offset) & ~written_sectors_[group];
}

void ColdCache::write(std::size_t offset) {
  const std::size_t group = offset / 32 / 64;
  touched_ = true;
  overlaps_ |= (read_sectors_[group] & bit(offset)) != 0;
  written_sectors_[group] |= bit(offset);
}

long long ColdCache::read_bytes() const {
  constexpr std::uint64_t kFirstOfPairs = 0x5555555555555555;
  long long pairs = 0;
  if (touched_)
    for (const std::uint64_t sectors : read_sectors_)
      pairs += std::popcount((sectors | sectors >> 1) & kFirstOfPairs);
  return 64 * pairs;
}

long long ColdCache::written_bytes() const {
  long long written = 0;
  if (touched_)
    for (const std::uint64_t sectors : written_sectors_) written += std::popcount(sectors);
  return 32 * written;
}

void ColdCache::add(const ColdCache& later) {
  touched_ |= later.touched_;
  overlaps_ |= later.overlaps_;
  for (std::size_t i = 0; i < groups(); ++i) {
    overlaps_ |=
        (read_sectors_[i] & later.written_sectors_[i]) | (written_sectors_[i] & later.read_sectors_[i]);
    read_sectors_[i] |= later.read_sectors_[i] & ~written_sectors_[i];
    written_sectors_[i] |= later.written_sectors_[i];
  }
}

void ColdCache::clear() {
  if (!touched_) return;
  std::fill(read_sectors_.begin(), read_sectors_.end(), 0);
  std::fill(written_sectors_.begin(), written_sectors_.end(), 0);
  touched_ = overlaps_ = false;
}

}  // namespace cpu
