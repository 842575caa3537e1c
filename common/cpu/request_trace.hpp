/// \file
/// Keeps single requests of a launch, for `--trace`.
#pragma once

#include <optional>
#include <vector>

#include "cpu/counts.hpp"
#include "cpu/sites.hpp"
#include "cpu/wavefronts.hpp"

namespace cpu {

/// The request as it is kept, which was counted as `cost`; nothing for copies that only fill with zeros,
/// whose source need not be in an array.
std::optional<workbook::TracedRequest> traced(const Site& site, const Request& request,
                                              const workbook::Counts& cost);
/// The kind and the memory of a site's accesses, as types of the harness.
workbook::RequestKind kind_of(const Site& site);
workbook::MemorySpace space_of(const Site& site);

/// The requests of the first warp of a launch's first block.
class RequestTrace {
 public:
  /// Whether to keep any. Off at first.
  void set_enabled(bool enabled) { enabled_ = enabled; }
  bool is_enabled() const { return enabled_; }
  /// Whether the running thread belongs to the warp whose requests are kept.
  bool covers_running_thread() const { return enabled_ && in_first_warp(); }

  /// Keeps a request that was counted as `cost`.
  void add(const Site& site, const Request& request, const workbook::Counts& cost);
  /// Returns the launch's requests and forgets them.
  std::vector<workbook::TracedRequest> take();

 private:
  static bool in_first_warp();

  bool enabled_ = false;
  std::vector<workbook::TracedRequest> requests_;
};

}  // namespace cpu
