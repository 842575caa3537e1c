#include "cpu_device/counting/request_log.hpp"

#include <algorithm>

namespace cpu {

void RequestLog::begin(Site& site) {
  site.in_segment = true;
  site.shared_loads.begin_segment();
  segment_.push_back(&site);
}

OpenRequest* RequestLog::new_request(const Position& position, OpenRequest* next) {
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
OpenRequest* RequestLog::find_request(Site& site, unsigned lane, const Position& position,
                                      OpenRequest** link) {
  if (!site.in_segment) begin(site);
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
    traffic_.set_approximate();
    site_log_.set_approximate(site.instruction);
    close(site, &site.first);
  }
  return made;
}

void RequestLog::add_to_other(Site& site, unsigned lane, const Position& position, OpenRequest** link,
                              std::uintptr_t address) {
  join(site, lane, address, find_request(site, lane, position, link));
}

/// Counts the request at `link` and takes it out of its list.
void RequestLog::close(Site& site, OpenRequest** link) {
  OpenRequest* request = *link;
  site_log_.is_on() ? count_and_keep(site, *request) : count(site, *request);
  *link = request->next;
  --site.open;
  unused_.push_back(request);
  site.cursor_lane = kWarpSize;
}

void RequestLog::count(Site& site, const OpenRequest& request) {
  traffic_.count(site, request);
  // The same iteration again, by other lanes: which of them ran together is not known.
  const OpenRequest* next = request.next;
  if (next && next->key == request.key && next->mask != request.mask) traffic_.set_approximate();
  traffic_.set_approximate(iterations_.ambiguous(request.position));
}

void RequestLog::count_and_keep(Site& site, const OpenRequest& request) {
  workbook::Counts all = traffic_.exchange({});
  count(site, request);
  const workbook::Counts own = traffic_.exchange({});
  all += own;
  traffic_.exchange(all);
  site_log_.add(site, request, own);
}

void RequestLog::advance(const std::vector<const Position*>& stopped) {
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

void RequestLog::end_segment() {
  for (Site* site : segment_) {
    while (site->first) close(*site, &site->first);
    site->in_segment = false;
  }
  segment_.clear();
}

/// The site has no part in the segment any more.
void RequestLog::leave(Site& site) {
  site.first = nullptr;
  site.open = 0;
  site.cursor_lane = kWarpSize;
  site.in_segment = false;
}

void RequestLog::pause(unsigned warp) {
  std::vector<PausedSite>& paused = paused_[warp];
  for (Site* site : segment_) {
    paused.push_back({site, site->first, site->open});
    leave(*site);
  }
  segment_.clear();
}

void RequestLog::resume(unsigned warp) {
  for (const PausedSite& paused : paused_[warp]) {
    begin(*paused.site);
    paused.site->first = paused.first;
    paused.site->open = paused.open;
  }
  paused_[warp].clear();
}

std::vector<unsigned> RequestLog::paused_warps() const {
  std::vector<unsigned> warps;
  for (const auto& [warp, sites] : paused_)
    if (!sites.empty()) warps.push_back(warp);
  return warps;
}

void RequestLog::abandon() {
  const auto drop = [&](OpenRequest* request) {
    for (; request; request = request->next) unused_.push_back(request);
  };
  for (Site* site : segment_) {
    drop(site->first);
    leave(*site);
  }
  segment_.clear();
  for (const auto& [warp, sites] : paused_)
    for (const PausedSite& paused : sites) drop(paused.first);
  paused_.clear();
}

}  // namespace cpu
