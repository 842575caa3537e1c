/// \file
/// Spreads the blocks of a grid over the machine's cores, where the result cannot differ from that of one
/// core.
///
/// The blocks after the first are divided into contiguous parts, one for each worker: an operating-system
/// thread with a Device of its own. Workers write the arrays directly, but what the device notes about an
/// array each keeps for itself (Buffer::of_worker), so an access takes no lock. At the end the notes are
/// joined in the order of the blocks (array_parts.hpp).
///
/// This is exact only where no part depends on another. So a worker stops at the first finding, fault, atomic
/// on device memory, fence or printf, and afterwards no byte may be found that one part wrote and another
/// accessed. Otherwise the attempt is thrown away: the arrays get their former contents back, and one core
/// runs the blocks in their order, as if nothing had been tried. Findings and their messages are therefore
/// always those of one core.
#pragma once

#include <cstddef>
#include <optional>

namespace cpu {

/// How many cores grids are spread over, 1 means none: WORKBOOK_CORES of the environment, or as many as the
/// machine has, which 0 stands for. Nothing when that is no whole number.
std::optional<unsigned> wanted_cores();

/// Where grids are spread.
struct SpreadRule {
  /// Accesses that the grid must be expected to make: fewer would not pay for the threads.
  long long least_accesses = 300'000;
  /// The arrays, which are copied first, may have so many bytes for each access.
  double most_bytes_per_access = 32;
  // How often it has happened.
  long long spread = 0;
  long long thrown_away = 0;
};
SpreadRule& spread_rule();

/// Tries to run the blocks from number `first` on on several cores. The blocks before them have run, with
/// that many accesses. Returns false if it does not pay, or if blocks depend on each other; then none of them
/// has run.
bool run_on_cores(std::size_t first, long long accesses_before);

}  // namespace cpu
