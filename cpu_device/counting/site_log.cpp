#include "cpu_device/counting/site_log.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/program_image/source_line.hpp"
#include "cpu_device/running_thread.hpp"

namespace cpu {
namespace {

/// The address that a lane accesses; of an asynchronous copy the one that it reads, if it reads any.
std::optional<std::uintptr_t> address_of(const Site& site, const Request& request, unsigned lane) {
  const std::uintptr_t address = request.address[lane];
  if (site.space != Space::kCopy) return address;
  const Copy copy = unpacked_copy(address, site.size);
  return copy.reads ? std::optional(copy.source) : std::nullopt;
}

/// The first address that one of the request's lanes accesses.
std::optional<std::uintptr_t> first_address(const Site& site, const Request& request) {
  for (const unsigned lane : lanes_of(request.mask))
    if (const auto address = address_of(site, request, lane)) return address;
  return std::nullopt;
}

workbook::RequestKind kind_of(const Site& site) {
  if (site.space == Space::kCopy) return workbook::RequestKind::kCopy;
  switch (site.kind) {
    case AccessKind::kLoad:
      return workbook::RequestKind::kLoad;
    case AccessKind::kStore:
      return workbook::RequestKind::kStore;
    case AccessKind::kAtomic:
      break;
  }
  return workbook::RequestKind::kAtomic;
}

workbook::MemorySpace space_of(const Site& site) {
  return site.space == Space::kShared ? workbook::MemorySpace::kShared : workbook::MemorySpace::kGlobal;
}

/// The request as it is kept, which was counted as `cost`; nothing for copies that only fill with zeros,
/// whose source need not be in an array.
std::optional<workbook::TracedRequest> traced(const Site& site, const Request& request,
                                              const workbook::Counts& cost) {
  const std::optional<std::uintptr_t> first = first_address(site, request);
  if (!first) return std::nullopt;
  const SourceLine& place = source_line(site.instruction);
  const NamedPlace array = array_at(*first);
  const bool shared = site.space == Space::kShared;
  workbook::TracedRequest traced = {.place = fmt::format("{}:{}", place.file, place.line),
                                    .kind = kind_of(site),
                                    .space = space_of(site),
                                    .array = array.name,
                                    .bytes = site.size,
                                    .element = static_cast<unsigned>(array.element_size),
                                    .start = shared ? 0 : static_cast<unsigned>(array.begin % 32),
                                    .offsets = std::vector<long long>(kWarpSize, -1),
                                    .sectors = cost.load_sectors + cost.store_sectors + cost.atomic_sectors,
                                    .wavefronts = cost.shared_load_wavefronts + cost.shared_store_wavefronts};
  // The sector of an element depends on where the array begins; shared memory begins with the array's.
  const std::uintptr_t origin = shared ? array.begin : array.begin / 32 * 32;
  for (const unsigned lane : lanes_of(request.mask))
    if (const auto address = address_of(site, request, lane))
      traced.offsets[lane] = static_cast<long long>(*address - origin);
  return traced;
}

workbook::SiteCounts site_at(std::uintptr_t instruction, workbook::RequestKind kind) {
  const SourceLine& place = source_line(instruction);
  workbook::SiteCounts site;
  site.file = place.file;
  site.line = place.line;
  site.kind = kind;
  return site;
}

/// Whether the requests of that warp are kept.
bool is_kept(const LaunchState& launch, std::size_t block, unsigned warp) {
  const unsigned last_warp = (launch.threads_per_block - 1) / kWarpSize;
  return (block < workbook::kFirstLoggedBlocks || block + 1 == launch.blocks()) &&
         (warp < workbook::kFirstLoggedWarps || warp == last_warp);
}

}  // namespace

/// The place of the site in sites_, where it comes with its first request.
std::size_t SiteLog::index_of(const Site& site, const Request& request) {
  const auto [found, is_new] = indices_.try_emplace(&site, sites_.size());
  if (!is_new) return found->second;
  workbook::SiteCounts counts = site_at(site.instruction, kind_of(site));
  counts.space = space_of(site);
  counts.bytes = site.size;
  if (const auto first = traced(site, request, {})) counts.array = first->array;
  sites_.push_back(std::move(counts));
  return found->second;
}

void SiteLog::add(const Site& site, const Request& request, const workbook::Counts& cost) {
  const std::size_t index = index_of(site, request);
  sites_[index].counts += cost;
  if (approximate_.contains(site.instruction)) sites_[index].counts.approximate = true;
  const Running& r = running();
  if (is_kept(r.launch, r.block.number, r.thread.number / kWarpSize)) keep(index, site, request, cost);
}

void SiteLog::keep(std::size_t site_index, const Site& site, const Request& request,
                   const workbook::Counts& cost) {
  const std::size_t block = running().block.number;
  const unsigned warp = running().thread.number / kWarpSize;
  workbook::WarpRequests& kept = warps_[{site_index, block, warp}];
  kept.site = site_index;
  kept.block = block;
  kept.warp = warp;
  const bool is_of_site = kept.executed++ < static_cast<long long>(workbook::kMostLoggedExecutions),
             is_of_warp = block == 0 && warp == 0 && requests_.size() < workbook::kMostTracedRequests;
  if (!is_of_site && !is_of_warp) return;
  auto one = traced(site, request, cost);
  if (!one) return;
  one->unfinished = unfinished_;
  if (is_of_warp) requests_.push_back(*one);
  if (is_of_site) kept.first.push_back(std::move(*one));
}

void SiteLog::add_barrier(std::uintptr_t instruction) {
  if (!on_) return;
  const auto [found, is_new] = barriers_.try_emplace(instruction, sites_.size());
  if (is_new) sites_.push_back(site_at(instruction, workbook::RequestKind::kBarrier));
  ++sites_[found->second].counts.barriers;
}

void SiteLog::set_approximate(std::uintptr_t instruction) {
  if (!on_) return;
  approximate_.insert(instruction);
  for (const auto& [site, index] : indices_)
    if (site->instruction == instruction) sites_[index].counts.approximate = true;
}

void SiteLog::set_mergeable(const std::vector<const Site*>& loads) {
  for (const Site* load : loads)
    if (const auto found = indices_.find(load); found != indices_.end())
      sites_[found->second].counts.shared_loads_may_merge = true;
}

void SiteLog::take(workbook::LaunchCounts& launch) {
  for (workbook::SiteCounts& site : sites_)
    if (all_approximate_ && site.kind != workbook::RequestKind::kBarrier) site.counts.approximate = true;
  launch.sites = std::exchange(sites_, {});
  launch.requests = std::exchange(requests_, {});
  for (auto& [key, warp] : warps_) launch.warps.push_back(std::move(warp));
  clear();
}

void SiteLog::clear() {
  sites_.clear();
  indices_.clear();
  barriers_.clear();
  approximate_.clear();
  warps_.clear();
  requests_.clear();
  all_approximate_ = unfinished_ = false;
}

}  // namespace cpu
