#include <algorithm>
#include <bit>

#include "cpu/device.hpp"

namespace cpu {

void WarpLog::begin_launch() {
  for (const auto& [key, site] : sites_) site->buffer = nullptr;
}

Site& WarpLog::find_site(std::uintptr_t instruction, Space space, AccessKind kind, unsigned size) {
  // One call of memcpy both loads and stores.
  auto& site = sites_[(instruction * 2 + (space == Space::kShared)) * 4 + static_cast<unsigned>(kind)];
  if (!site) {
    site = std::make_unique<Site>();
    site->instruction = instruction;
    site->space = space;
    site->kind = kind;
    site->size = size;
  }
  return *site;
}

void WarpLog::begin(Site& site) {
  site.in_segment = true;
  segment_.push_back(&site);
}

void WarpLog::count_until(Site& site, std::uint32_t end) {
  for (; site.counted < end; ++site.counted) {
    Request& request = site.window[site.counted % kWindow];
    count(site, request);
    request.mask = 0;
  }
}

void WarpLog::advance(std::uint32_t waiting_lanes) {
  bool advanced = false;
  for (Site* site : segment_) {
    std::uint32_t slowest = site->most;
    for (std::uint32_t lanes = waiting_lanes; lanes; lanes &= lanes - 1)
      slowest = std::min(slowest, site->executed[std::countr_zero(lanes)]);
    advanced |= slowest > site->counted;
    count_until(*site, std::max(slowest, site->counted));
  }
  if (advanced) return;
  // The waiting lanes sit in different loops. Which of their requests would have gone together cannot be
  // known.
  counts_.approximate = true;
  for (Site* site : segment_) count_until(*site, site->most);
}

/// Makes a site ready for the next segment.
static void leave_segment(Site& site) {
  std::fill(std::begin(site.executed), std::end(site.executed), 0);
  site.most = site.counted = 0;
  site.in_segment = false;
}

void WarpLog::end_segment() {
  for (Site* site : segment_) {
    count_until(*site, site->most);
    // A lane that left a loop early, or skipped an access inside it, may have been paired with the wrong
    // iteration.
    for (const std::uint32_t executed : site->executed)
      if (executed != 0 && executed != site->most) counts_.approximate = true;
    leave_segment(*site);
  }
  segment_.clear();
}

void WarpLog::abandon() {
  for (Site* site : segment_) {
    for (Request& request : site->window) request.mask = 0;
    leave_segment(*site);
  }
  segment_.clear();
}

void WarpLog::count_late(Site& site, unsigned lane, std::uintptr_t address) {
  counts_.approximate = true;
  Request alone;
  alone.mask = 1u << lane;
  alone.address[lane] = address;
  count(site, alone);
}

void WarpLog::count(Site& site, const Request& request) {
  if (request.mask == 0) return;
  if (site.space == Space::kShared) {
    count_shared(site, request);
  } else {
    count_global(site, request);
  }
  counts_.accesses += std::popcount(request.mask);
}

void WarpLog::count_shared(const Site& site, const Request& request) {
  if (site.kind == AccessKind::kAtomic) return;  // another unit of the hardware serves those
  ++counts_.shared_requests;
  (site.kind == AccessKind::kStore ? counts_.shared_store_wavefronts : counts_.shared_load_wavefronts) +=
      wavefronts(request, site.size);
}

/// Whether two lanes want the same address.
static bool contended(const Request& request) {
  std::uintptr_t addresses[kWarpSize];
  unsigned count = 0;
  for (std::uint32_t lanes = request.mask; lanes; lanes &= lanes - 1)
    addresses[count++] = request.address[std::countr_zero(lanes)];
  std::sort(addresses, addresses + count);
  return std::adjacent_find(addresses, addresses + count) != addresses + count;
}

void WarpLog::count_global(Site& site, const Request& request) {
  std::uintptr_t sectors[kWarpSize];
  unsigned count = 0;
  bool ascending = true;
  for (std::uint32_t lanes = request.mask; lanes; lanes &= lanes - 1) {
    const std::uintptr_t sector = request.address[std::countr_zero(lanes)] / 32;
    if (count && sector == sectors[count - 1]) continue;
    ascending &= !count || sector > sectors[count - 1];
    sectors[count++] = sector;
  }
  if (!ascending) {
    std::sort(sectors, sectors + count);
    count = static_cast<unsigned>(std::unique(sectors, sectors + count) - sectors);
  }

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
  for (unsigned i = 0; i < count; ++i) {
    const std::uintptr_t address = sectors[i] * 32;
    if (!site.buffer->pages.contains(address)) site.buffer = memory().owner(address);
    if (site.kind != AccessKind::kStore) counts_.compulsory_read_bytes += site.buffer->read(address);
    if (site.kind != AccessKind::kLoad) counts_.compulsory_write_bytes += site.buffer->write(address);
  }
}

}  // namespace cpu
