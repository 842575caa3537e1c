/// \file
/// Whether the GPUs of a machine can share a problem.
#pragma once

#include <functional>
#include <string>

#include "harness/backends/backend.hpp"

namespace workbook {

/// The environment variable that says which of the machine's GPUs CUDA shows to a program.
constexpr const char* kVisibleDevices = "CUDA_VISIBLE_DEVICES";

/// The value of that variable for option --gpus, "1,0": of the devices that it names so far, `visible`, or
/// else of all. \throws UsageError
std::string visible_devices(const std::string& chosen, const char* visible);

/// Why the first `needed` GPUs of a device cannot share a problem: "that takes 2 GPUs, and there is one
/// here", or they are not of one kind. Empty where they can.
std::string why_not_shared(const Backend& device, int needed);

/// What stages need that `gpus` GPUs do not have, for "needs ...": that each reaches the others' memory.
/// `can_reach(gpu, other)` says whether one does. Empty where all do.
std::string missing_peer_access(int gpus, const std::function<bool(int gpu, int other)>& can_reach);

}  // namespace workbook
