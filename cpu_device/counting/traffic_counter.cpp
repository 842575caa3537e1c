#include "cpu_device/counting/traffic_counter.hpp"

#include <algorithm>
#include <bit>

#include "cpu_device/memory/memory.hpp"
#include "cpu_device/running_thread.hpp"

namespace cpu {
namespace {

/// Sorts the numbers, unless they are `ascending`, and leaves each of them once. Returns how many are left.
unsigned leave_distinct(std::uintptr_t (&numbers)[kWarpSize], unsigned count, bool ascending) {
  if (ascending) return count;
  std::sort(numbers, numbers + count);
  return static_cast<unsigned>(std::unique(numbers, numbers + count) - numbers);
}

/// Numbers of one request.
struct Distinct {
  unsigned addresses, sectors;
};

/// The addresses and sectors of lanes that access one array element after another; stores the sectors.
Distinct count_row(const Request& request, std::uintptr_t (&sectors)[kWarpSize]) {
  const std::uintptr_t first = request.address[0] / 32, last = request.address[kWarpSize - 1] / 32;
  for (std::uintptr_t sector = first; sector <= last; ++sector) sectors[sector - first] = sector;
  return {kWarpSize, static_cast<unsigned>(last - first + 1)};
}

/// Stores the distinct addresses of a request in ascending order and returns their number.
unsigned distinct_addresses(const Request& request, std::uintptr_t (&addresses)[kWarpSize]) {
  unsigned count = 0;
  bool ascending = true;
  for (const unsigned lane : lanes_of(request.mask)) {
    const std::uintptr_t address = request.address[lane];
    if (count && address == addresses[count - 1]) continue;
    ascending &= !count || address > addresses[count - 1];
    addresses[count++] = address;
  }
  return leave_distinct(addresses, count, ascending);
}

/// Replaces ascending addresses by their sectors, each once, and returns the number of these.
unsigned sectors_of(std::uintptr_t (&addresses)[kWarpSize], unsigned count) {
  unsigned sectors = 0;
  for (unsigned i = 0; i < count; ++i) {
    const std::uintptr_t sector = addresses[i] / 32;
    if (!sectors || sector != addresses[sectors - 1]) addresses[sectors++] = sector;
  }
  return sectors;
}

/// The distinct addresses and sectors of any request; stores the sectors.
Distinct count_distinct(const Request& request, std::uintptr_t (&sectors)[kWarpSize]) {
  const unsigned addresses = distinct_addresses(request, sectors);
  return {addresses, sectors_of(sectors, addresses)};
}

/// The bytes that asynchronous copies of `size` bytes each read, those that several lanes copy once.
long long bytes_read(const Request& request, unsigned size) {
  std::uintptr_t sources[kWarpSize];  // with the number of zeros in the lowest bits
  unsigned count = 0;
  for (const unsigned lane : lanes_of(request.mask)) {
    const Copy copy = unpacked_copy(request.address[lane], size);
    if (copy.reads) sources[count++] = copy.source + copy.zeros;
  }
  std::sort(sources, sources + count);
  long long bytes = 0;
  for (unsigned i = 0; i < count; ++i)  // of the copies from one place, the first one has the fewest zeros
    if (i == 0 || sources[i] / size != sources[i - 1] / size) bytes += size - sources[i] % size;
  return bytes;
}

}  // namespace

void TrafficCounter::count(Site& site, const Request& request) {
  switch (site.space) {
    case Space::kGlobal:
      count_global(site, request);
      break;
    case Space::kShared:
      count_shared(site, request);
      break;
    case Space::kCopy:
      count_copy(site, request);
      break;
  }
  counts_.accesses += std::popcount(request.mask);
}

void TrafficCounter::count_global(Site& site, const Request& request) {
  // Addresses are multiples of the size, so those of two lanes are the same or do not overlap.
  std::uintptr_t sectors[kWarpSize];
  const auto [addresses, count] =
      request.is_even(site.size) ? count_row(request, sectors) : count_distinct(request, sectors);
  const long long bytes = static_cast<long long>(addresses) * site.size;
  switch (site.kind) {
    case AccessKind::kLoad:
      counts_.load_requests += 1;
      counts_.load_sectors += count;
      counts_.load_bytes += bytes;
      break;
    case AccessKind::kStore:
      counts_.store_requests += 1;
      counts_.store_sectors += count;
      counts_.store_bytes += bytes;
      break;
    case AccessKind::kAtomic:
      counts_.atomic_sectors += count;
      counts_.contended |= addresses < static_cast<unsigned>(std::popcount(request.mask));
      break;
  }
  long long of_peers = 0;
  for (unsigned i = 0; i < count; ++i) of_peers += note_sector(site, sectors[i]);
  if (of_peers) count_peers(site, of_peers);
}

/// A request with so many sectors in other GPUs' memory.
void TrafficCounter::count_peers(const Site& site, long long sectors) {
  ++counts_.peer_requests;
  (site.kind == AccessKind::kLoad ? counts_.peer_load_sectors : counts_.peer_store_sectors) += sectors;
}

void TrafficCounter::count_shared(Site& site, const Request& request) {
  if (site.kind == AccessKind::kAtomic) {
    ++counts_.shared_atomic_requests;
    return;
  }
  ++counts_.shared_requests;
  (site.kind == AccessKind::kStore ? counts_.shared_store_wavefronts : counts_.shared_load_wavefronts) +=
      wavefronts(request, site.size);
  const bool may_merge = site.kind == AccessKind::kLoad && (site.size == 4 || site.size == 8);
  if (compares_shared_loads_ && may_merge && !site.is_volatile) site.shared_loads.add(request, site.size);
}

void TrafficCounter::count_copy(Site& site, const Request& request) {
  const CopyCost cost = copy_cost(request, site.size);
  counts_.load_requests += cost.sectors > 0;
  counts_.load_sectors += cost.sectors;
  counts_.load_bytes += bytes_read(request, site.size);
  counts_.shared_requests += 1;
  counts_.shared_store_wavefronts += cost.wavefronts;
  bool from_peer = false;
  for (const unsigned lane : lanes_of(request.mask)) {
    const Copy copy = unpacked_copy(request.address[lane], site.size);
    if (!copy.reads) continue;
    counts_.accesses += 1;  // the store to shared memory is counted with all other accesses
    from_peer |= note_sector(site, copy.source / 32);
  }
  if (from_peer) count_peers(site, cost.sectors);  // a copy of a warp is from one array
}

/// Notes it for the DRAM traffic, which is counted at the end of the launch (Memory::count_compulsory).
/// Returns whether it is in another GPU's memory.
bool TrafficCounter::note_sector(Site& site, std::uintptr_t sector) {
  const std::uintptr_t address = sector * 32;
  Buffer* array = site.buffer;
  if (!array || !array->pages.contains(address)) array = memory().owner(address);
  const std::size_t offset = address - array->pages.begin;
  if (site.kind != AccessKind::kStore) array->cold_cache.read(offset);
  if (site.kind != AccessKind::kLoad) array->cold_cache.write(offset);
  return !array->shared_with_host && array->gpu != running().gpu;
}

}  // namespace cpu
