#include <algorithm>
#include <bit>

#include "cpu/device.hpp"

namespace cpu {

void WarpLog::begin_launch() {
  for (const auto& [key, site] : sites_) {
    site->buffer = nullptr;
    site->number = 0;
  }
  numbered_.clear();
}

Site& WarpLog::find_site(std::uintptr_t instruction, Space space, AccessKind kind, unsigned size) {
  // One call of memcpy both loads and stores, and in pieces of several sizes.
  const std::uintptr_t access = static_cast<unsigned>(space) * 4 + static_cast<unsigned>(kind);
  auto& site = sites_[(instruction * 16 + access) * 32 + size];
  if (!site) {
    site = std::make_unique<Site>();
    site->instruction = instruction;
    site->space = space;
    site->kind = kind;
    site->size = size;
  }
  return *site;
}

void WarpLog::give_number(Site& site) {
  if (numbered_.size() == UINT8_MAX) return;
  numbered_.push_back(site.instruction);
  site.number = static_cast<std::uint8_t>(numbered_.size());
}

void WarpLog::begin(Site& site) {
  site.in_segment = true;
  site.ambiguous_mask = 0;
  segment_.push_back(&site);
}

OpenRequest* WarpLog::new_request(const Position& position, OpenRequest* next) {
  if (unused_.empty()) {
    requests_.push_back(std::make_unique<OpenRequest>());
    unused_.push_back(requests_.back().get());
  }
  OpenRequest* request = unused_.back();
  unused_.pop_back();
  request->mask = 0;
  request->key = position.key();
  request->position = position;
  request->next = next;
  return request;
}

/// The first request from `link` on that has that position and not yet the lane; a new one when there is
/// none.
OpenRequest* WarpLog::find_request(Site& site, unsigned lane, const Position& position, OpenRequest** link) {
  const std::uint64_t key = position.key();
  for (; OpenRequest* request = *link; link = &request->next) {
    if (request->key == key) {
      if (!(request->mask >> lane & 1)) return request;
    } else if (before(position, request->position)) {
      break;
    }
  }
  *link = new_request(position, *link);
  OpenRequest* const made = *link;
  if (++site.open > kMostOpen && site.first != made) {
    counts_.approximate = true;
    close(site, &site.first);
  }
  return made;
}

/// Counts the request at `link` and takes it out of its list.
void WarpLog::close(Site& site, OpenRequest** link) {
  OpenRequest* request = *link;
  const Device& d = device();
  const bool traced = d.traces_requests && d.first_thread == 0 && d.thread_number < kWarpSize;
  traced ? count_and_trace(site, *request) : count(site, *request);
  // The same iteration again, and not by the same lanes: which of them went together is not known.
  const OpenRequest* next = request->next;
  if (next && next->key == request->key && next->mask != request->mask) counts_.approximate = true;
  if (request->position.ambiguous()) {
    counts_.approximate |= site.ambiguous_mask && site.ambiguous_mask != request->mask;
    site.ambiguous_mask = request->mask;
  }
  *link = request->next;
  --site.open;
  unused_.push_back(request);
  site.cursor_lane = kWarpSize;
}

void WarpLog::advance(const std::vector<const Position*>& stopped) {
  for (Site* site : segment_) {
    OpenRequest** link = &site->first;
    while (*link) {
      const auto has_passed = [&](const Position* now) { return passed((*link)->position, *now); };
      if (std::all_of(stopped.begin(), stopped.end(), has_passed)) {
        close(*site, link);
      } else {
        link = &(*link)->next;
      }
    }
  }
}

void WarpLog::end_segment() {
  for (Site* site : segment_) {
    while (site->first) close(*site, &site->first);
    site->in_segment = false;
  }
  segment_.clear();
}

void WarpLog::abandon() {
  for (Site* site : segment_) {
    for (OpenRequest* request = site->first; request; request = request->next) unused_.push_back(request);
    site->first = nullptr;
    site->open = 0;
    site->cursor_lane = kWarpSize;
    site->in_segment = false;
  }
  segment_.clear();
}

void WarpLog::count(Site& site, const Request& request) {
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

void WarpLog::count_and_trace(Site& site, const Request& request) {
  const workbook::Counts before = counts_;
  count(site, request);
  const auto all_sectors = [](const workbook::Counts& c) {
    return c.load_sectors + c.store_sectors + c.atomic_sectors;
  };
  const auto all_wavefronts = [](const workbook::Counts& c) {
    return c.shared_load_wavefronts + c.shared_store_wavefronts;
  };
  trace_request(site, request, all_sectors(counts_) - all_sectors(before),
                all_wavefronts(counts_) - all_wavefronts(before));
}

void WarpLog::count_shared(const Site& site, const Request& request) {
  if (site.kind == AccessKind::kAtomic) {
    ++counts_.shared_atomic_requests;
    return;
  }
  ++counts_.shared_requests;
  (site.kind == AccessKind::kStore ? counts_.shared_store_wavefronts : counts_.shared_load_wavefronts) +=
      wavefronts(request, site.size);
}

void WarpLog::count_copy(Site& site, const Request& request) {
  const CopyCost cost = copy_cost(request, site.size);
  counts_.load_requests += cost.sectors > 0;
  counts_.load_sectors += cost.sectors;
  counts_.shared_requests += 1;
  counts_.shared_store_wavefronts += cost.wavefronts;
  for (std::uint32_t lanes = request.mask; lanes; lanes &= lanes - 1) {
    const Copy copy = unpacked_copy(request.address[std::countr_zero(lanes)]);
    if (!copy.reads) continue;
    counts_.load_bytes += site.size;
    counts_.accesses += 1;  // that of shared memory is counted with all others
    count_compulsory(site, copy.source / 32);
  }
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
  for (unsigned i = 0; i < count; ++i) count_compulsory(site, sectors[i]);
}

void WarpLog::count_compulsory(Site& site, std::uintptr_t sector) {
  const std::uintptr_t address = sector * 32;
  if (!site.buffer->pages.contains(address)) site.buffer = memory().owner(address);
  if (site.kind != AccessKind::kStore) counts_.compulsory_read_bytes += site.buffer->read(address);
  if (site.kind != AccessKind::kLoad) counts_.compulsory_write_bytes += site.buffer->write(address);
}

}  // namespace cpu
