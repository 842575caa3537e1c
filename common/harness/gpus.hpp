/// \file
/// Whether the GPUs of a machine can share a problem.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/backend.hpp"

namespace workbook {

/// "that takes 2 GPUs, and there is one here" where the device has fewer; else empty.
std::string too_few_gpus(const Backend& device, int needed);

/// Why GPUs of these names are not taken together: they must be of one kind. Empty where they are.
std::string different_gpus(const std::vector<std::string>& names);

/// What stages need that `gpus` GPUs do not have, for "needs ...": that each reaches the others' memory.
/// `can_reach(gpu, other)` says whether one does. Empty where all do.
std::string missing_peer_access(int gpus, const std::function<bool(int gpu, int other)>& can_reach);

}  // namespace workbook
