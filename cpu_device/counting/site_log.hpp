/// \file
/// The cost of each instruction of a launch, and single requests of some warps, for `--lines`, `--trace` and
/// `view`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cpu_device/counts.hpp"
#include "cpu_device/memory/access_sites.hpp"
#include "cpu_device/memory/wavefronts.hpp"

namespace cpu {

class SiteLog {
 public:
  /// Whether to log. Off at first. While it is on, no launch runs on several cores, and it takes time.
  void set_on(bool on) { on_ = on; }
  bool is_on() const { return on_; }

  /// A request of the running warp that was counted as `cost`.
  void add(const Site& site, const Request& request, const workbook::Counts& cost);
  /// The running block has passed a barrier.
  void add_barrier(std::uintptr_t instruction);
  /// From here on the counts of that instruction are an estimate.
  void set_approximate(std::uintptr_t instruction);
  void set_all_approximate() { all_approximate_ = true; }
  /// The requests from here on may lack lanes, which have not run.
  void set_unfinished() { unfinished_ = true; }
  /// nvcc may merge these loads.
  void set_mergeable(const std::vector<const Site*>& loads);

  /// Moves what was logged into `launch`, and forgets it.
  void take(workbook::LaunchCounts& launch);

 private:
  using WarpKey = std::tuple<std::size_t, std::size_t, unsigned>;  // site, block, warp

  std::size_t index_of(const Site& site, const Request& request);
  void keep(std::size_t site_index, const Site& site, const Request& request, const workbook::Counts& cost);
  void clear();

  bool on_ = false;
  bool all_approximate_ = false, unfinished_ = false;
  std::vector<workbook::SiteCounts> sites_;
  std::unordered_map<const Site*, std::size_t> indices_;      // in sites_
  std::unordered_map<std::uintptr_t, std::size_t> barriers_;  // the same, by instruction
  std::unordered_set<std::uintptr_t> approximate_;            // instructions
  std::map<WarpKey, workbook::WarpRequests> warps_;
  std::vector<workbook::TracedRequest> requests_;  // of the first warp of the first block
};

}  // namespace cpu
