#include "cpu_device/memory/wavefronts.hpp"

#include <algorithm>
#include <array>

namespace cpu {
namespace {

constexpr unsigned kBanks = 32;

/// The mask of the lanes [first, first + lanes), lanes from 1 to 32.
constexpr std::uint32_t lane_range(unsigned first, unsigned lanes) {
  return 0xffffffffu >> (kWarpSize - lanes) << first;
}

/// The most distinct words that the lanes [first, first + lanes) access in one bank.
unsigned passes(const Request& request, unsigned size, unsigned first, unsigned lanes) {
  const std::uint32_t mask = request.mask & lane_range(first, lanes);
  if (!mask) return 0;
  // 32 neighbouring words are in 32 banks: the common case, without sorting.
  std::uintptr_t least = ~std::uintptr_t{0}, greatest = 0;
  for (const unsigned lane : lanes_of(mask)) {
    least = std::min(least, request.address[lane]);
    greatest = std::max(greatest, request.address[lane]);
  }
  if ((greatest + size - 1) / 4 - least / 4 < kBanks) return 1;

  constexpr unsigned kMostWords = kWarpSize * 4;
  std::uintptr_t words[kMostWords];
  unsigned count = 0;
  for (const unsigned lane : lanes_of(mask))
    for (unsigned byte = 0; byte < std::max(size, 4u); byte += 4)
      words[count++] = request.address[lane] / 4 + byte / 4;
  std::sort(words, words + count);
  const unsigned distinct = static_cast<unsigned>(std::unique(words, words + count) - words);
  unsigned in_bank[kBanks] = {};
  unsigned most = 0;
  for (unsigned i = 0; i < distinct; ++i) most = std::max(most, ++in_bank[words[i] % kBanks]);
  return most;
}

/// Whether every lane i of [first, first + lanes) has the address of lane i ^ distance, which must take part
/// too.
bool paired(const Request& request, unsigned first, unsigned lanes, unsigned distance) {
  for (const unsigned lane : lanes_of(request.mask & lane_range(first, lanes))) {
    const unsigned other = lane ^ distance;
    if (!(request.mask >> other & 1) || request.address[lane] != request.address[other]) return false;
  }
  return true;
}

/// All lanes at once where they pair up, otherwise the two halves one after the other.
unsigned whole_or_halves(const Request& request, unsigned size, unsigned first, unsigned lanes) {
  if (paired(request, first, lanes, 1) || paired(request, first, lanes, 2))
    return passes(request, size, first, lanes);
  return passes(request, size, first, lanes / 2) + passes(request, size, first + lanes / 2, lanes / 2);
}

/// Number of distinct values among the first `count` keys. Sorts them.
unsigned distinct(std::array<std::uint64_t, kWarpSize>& keys, std::ptrdiff_t count) {
  std::sort(keys.begin(), keys.begin() + count);
  return static_cast<unsigned>(std::unique(keys.begin(), keys.begin() + count) - keys.begin());
}

CopyCost narrow_copy_cost(const Request& request, unsigned size) {
  std::array<std::uint64_t, kWarpSize> sectors;
  std::ptrdiff_t read = 0;
  Request stores;
  std::uint64_t line_of[kWarpSize];
  for (const unsigned lane : lanes_of(request.mask)) {
    const Copy copy = unpacked_copy(request.address[lane], size);
    if (copy.reads) sectors[static_cast<std::size_t>(read++)] = copy.source / 32;
    stores.address[lane] = copy.target;
    line_of[lane] = copy.reads ? copy.source / 128 : 0;  // there is no line 0: zeros come together
  }
  CopyCost cost = {distinct(sectors, read), 0};
  for (std::uint32_t left = request.mask; left; left &= ~stores.mask) {
    const std::uint64_t line = line_of[first_lane(left)];
    stores.mask = 0;
    for (const unsigned lane : lanes_of(left))
      if (line_of[lane] == line) stores.mask |= 1u << lane;
    cost.wavefronts += wavefronts(stores, size);
  }
  return cost;
}

}  // namespace

unsigned wavefronts(const Request& request, unsigned size) {
  if (size <= 4 && (request.is_even(size) || request.is_even(0))) return 1;  // the common case
  if (size <= 4) return passes(request, size, 0, 32);
  if (size == 8) return whole_or_halves(request, size, 0, 32);
  return whole_or_halves(request, size, 0, 16) + whole_or_halves(request, size, 16, 16);
}

CopyCost copy_cost(const Request& request, unsigned size) {
  if (size < 16) return narrow_copy_cost(request, size);
  std::array<std::uint64_t, kWarpSize> sectors, passes;
  std::ptrdiff_t read = 0, written = 0;
  for (const unsigned lane : lanes_of(request.mask)) {
    const Copy copy = unpacked_copy(request.address[lane], size);
    const std::uint64_t line = copy.source / 128 << 16, swizzle = (copy.source ^ copy.target) / 16 % 4;
    if (copy.reads) sectors[read++] = line | copy.target / 32;
    passes[written++] = line | copy.target / 128 << 2 | swizzle;
  }
  return {distinct(sectors, read), distinct(passes, written)};
}

}  // namespace cpu
