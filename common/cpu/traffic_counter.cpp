#include "cpu/traffic_counter.hpp"

#include <algorithm>
#include <bit>

#include "cpu/memory.hpp"

namespace cpu {
namespace {

/// Whether two lanes access the same address.
bool contended(const Request& request) {
  std::uintptr_t addresses[kWarpSize];
  unsigned count = 0;
  for (const unsigned lane : lanes_of(request.mask)) addresses[count++] = request.address[lane];
  std::sort(addresses, addresses + count);
  return std::adjacent_find(addresses, addresses + count) != addresses + count;
}

/// Stores the distinct sectors of a request in ascending order and returns their number.
unsigned distinct_sectors(const Request& request, std::uintptr_t (&sectors)[kWarpSize]) {
  unsigned count = 0;
  bool ascending = true;
  for (const unsigned lane : lanes_of(request.mask)) {
    const std::uintptr_t sector = request.address[lane] / 32;
    if (count && sector == sectors[count - 1]) continue;
    ascending &= !count || sector > sectors[count - 1];
    sectors[count++] = sector;
  }
  if (ascending) return count;
  std::sort(sectors, sectors + count);
  return static_cast<unsigned>(std::unique(sectors, sectors + count) - sectors);
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
  std::uintptr_t sectors[kWarpSize];
  const unsigned count = distinct_sectors(request, sectors);
  const long long bytes = static_cast<long long>(std::popcount(request.mask)) * site.size;
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
      counts_.contended |= contended(request);
      break;
  }
  for (unsigned i = 0; i < count; ++i) note_sector(site, sectors[i]);
}

void TrafficCounter::count_shared(const Site& site, const Request& request) {
  if (site.kind == AccessKind::kAtomic) {
    ++counts_.shared_atomic_requests;
    return;
  }
  ++counts_.shared_requests;
  (site.kind == AccessKind::kStore ? counts_.shared_store_wavefronts : counts_.shared_load_wavefronts) +=
      wavefronts(request, site.size);
}

void TrafficCounter::count_copy(Site& site, const Request& request) {
  const CopyCost cost = copy_cost(request, site.size);
  counts_.load_requests += cost.sectors > 0;
  counts_.load_sectors += cost.sectors;
  counts_.shared_requests += 1;
  counts_.shared_store_wavefronts += cost.wavefronts;
  for (const unsigned lane : lanes_of(request.mask)) {
    const Copy copy = unpacked_copy(request.address[lane]);
    if (!copy.reads) continue;
    counts_.load_bytes += site.size;
    counts_.accesses += 1;  // the store to shared memory is counted with all other accesses
    note_sector(site, copy.source / 32);
  }
}

/// Notes it for the DRAM traffic, which is counted at the end of the launch (Memory::count_compulsory).
void TrafficCounter::note_sector(Site& site, std::uintptr_t sector) {
  const std::uintptr_t address = sector * 32;
  if (!site.buffer->pages.contains(address)) site.buffer = memory().owner(address);
  const std::size_t offset = address - site.buffer->pages.begin;
  if (site.kind != AccessKind::kStore) site.buffer->cold_cache.read(offset);
  if (site.kind != AccessKind::kLoad) site.buffer->cold_cache.write(offset);
}

}  // namespace cpu
