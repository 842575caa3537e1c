/// \file
/// Counts what the requests of warps cost, in the units of the GPU's counters.
#pragma once

#include <cstdint>
#include <utility>

#include "cpu_device/counts.hpp"
#include "cpu_device/memory/access_sites.hpp"
#include "cpu_device/memory/wavefronts.hpp"

namespace cpu {

class TrafficCounter {
 public:
  explicit TrafficCounter(workbook::Counts& counts) : counts_(counts) {}

  /// Adds a complete request of that instruction to the counts.
  void count(Site& site, const Request& request);
  /// From here on the counts are an estimate.
  void set_approximate(bool approximate = true) { counts_.approximate |= approximate; }
  /// Whether to compare loads from shared memory with one another (shared_loads.hpp). That takes time.
  void compare_shared_loads(bool compare) { compares_shared_loads_ = compare; }
  /// Goes on from other counts, and returns those so far.
  workbook::Counts exchange(const workbook::Counts& counts) { return std::exchange(counts_, counts); }

 private:
  void count_global(Site& site, const Request& request);
  void count_shared(Site& site, const Request& request);
  void count_copy(Site& site, const Request& request);
  bool note_sector(Site& site, std::uintptr_t sector);
  void count_peers(const Site& site, long long sectors);

  workbook::Counts& counts_;
  bool compares_shared_loads_ = false;
};

}  // namespace cpu
