/// \file
/// Shared by tables of the CPU device's counts: the marks of counts that may differ from the hardware's, and
/// the atomics.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cpu_device/counts.hpp"

namespace workbook {

/// Marks counts in a table, and explains the marks that it has used.
class CountMarks {
 public:
  /// A number of sectors or requests, or one made of them: "≈1.5" where the counts are approximate.
  std::string sectors(const Counts& counts, const std::string& number);
  /// A number of wavefronts, or one made of them: "*1.5" where nvcc may merge loads.
  std::string wavefronts(const Counts& counts, const std::string& number);
  /// A line break, and lines that say what the marks mean; empty when none was used.
  std::string legend() const;

 private:
  bool approximate_ = false, may_merge_ = false;
};

/// A line break, and a table of the atomics of kernels or stages by name, which the sectors of loads and
/// stores do not include; empty when there are none.
std::string atomics_text(const std::vector<std::pair<std::string, Counts>>& counts);

}  // namespace workbook
