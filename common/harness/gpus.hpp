/// \file
/// Whether the GPUs of a machine can share a problem.
#pragma once

#include <functional>
#include <string>

#include "harness/backend.hpp"

namespace workbook {

/// Why the first `needed` GPUs of a device cannot share a problem: "that takes 2 GPUs, and there is one
/// here", or they are not of one kind. Empty where they can.
std::string why_not_shared(const Backend& device, int needed);

/// What stages need that `gpus` GPUs do not have, for "needs ...": that each reaches the others' memory.
/// `can_reach(gpu, other)` says whether one does. Empty where all do.
std::string missing_peer_access(int gpus, const std::function<bool(int gpu, int other)>& can_reach);

}  // namespace workbook
