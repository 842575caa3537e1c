#include "cpu/site_log.hpp"

#include <utility>

#include "cpu/device.hpp"
#include "cpu/request_trace.hpp"
#include "cpu/source_line.hpp"

namespace cpu {
namespace {

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
  const BlockState& block = device().block;
  if (is_kept(device().launch, block.number, block.thread.number / kWarpSize))
    keep(index, site, request, cost);
}

void SiteLog::keep(std::size_t site_index, const Site& site, const Request& request,
                   const workbook::Counts& cost) {
  const std::size_t block = device().block.number;
  const unsigned warp = device().block.thread.number / kWarpSize;
  workbook::WarpRequests& kept = warps_[{site_index, block, warp}];
  kept.site = site_index;
  kept.block = block;
  kept.warp = warp;
  if (kept.executed++ >= static_cast<long long>(workbook::kMostLoggedExecutions)) return;
  auto one = traced(site, request, cost);
  if (!one) return;
  one->unfinished = unfinished_;
  kept.first.push_back(std::move(*one));
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
  for (auto& [key, warp] : warps_) launch.warps.push_back(std::move(warp));
  clear();
}

void SiteLog::clear() {
  sites_.clear();
  indices_.clear();
  barriers_.clear();
  approximate_.clear();
  warps_.clear();
  all_approximate_ = unfinished_ = false;
}

}  // namespace cpu
