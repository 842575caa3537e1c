/// \file
/// Keeps single requests of a launch, for `--trace`.
#pragma once

#include <vector>

#include "cpu/counts.hpp"
#include "cpu/sites.hpp"
#include "cpu/wavefronts.hpp"

namespace cpu {

/// The requests of the first warp of a launch's first block.
class RequestTrace {
 public:
  /// Whether to keep any. Off at first.
  void set_enabled(bool enabled) { enabled_ = enabled; }
  /// Whether the running thread belongs to the warp whose requests are kept.
  bool covers_running_thread() const { return enabled_ && in_first_warp(); }

  /// Keeps a request that was counted as so many sectors and wavefronts.
  void add(const Site& site, const Request& request, long long sectors, long long wavefronts);
  /// Returns the launch's requests and forgets them.
  std::vector<workbook::TracedRequest> take();

 private:
  static bool in_first_warp();

  bool enabled_ = false;
  std::vector<workbook::TracedRequest> requests_;
};

}  // namespace cpu
