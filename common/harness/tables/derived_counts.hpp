/// \file
/// Numbers derived from counts: bytes, efficiency, JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "cpu_device/counts.hpp"

namespace workbook {

/// Bytes of the 32-byte sectors that loads from global memory requested.
long long read_bytes(const Counts& counts);
/// Bytes of the 32-byte sectors that stores to global memory wrote.
long long written_bytes(const Counts& counts);
/// Wavefronts of shared memory, of loads and stores together.
long long shared_wavefronts(const Counts& counts);

/// The efficiency of loads: of the sectors' bytes, the share that the lanes of a request use. What several
/// lanes load together counts once, so it is at most 1. Nothing when there were no loads. Atomics are not
/// included.
std::optional<double> load_efficiency(const Counts& counts);
/// The same for stores.
std::optional<double> store_efficiency(const Counts& counts);

/// The counts by name, as docs/json.md describes them. With a null pointer, for a device that does not count,
/// each of them is null.
nlohmann::ordered_json counts_json(const Counts* counts);

/// Their names on a page or in a trace: "load", "barrier"; "global", "shared".
const char* text_of(RequestKind kind);
const char* text_of(MemorySpace space);

/// The kernel's name, the grid and the block of a launch.
nlohmann::ordered_json launch_json(const LaunchCounts& launch);

}  // namespace workbook
