#include "harness/gpus.hpp"

#include <fmt/format.h>

#include "plural.hpp"

namespace workbook {

std::string why_not_shared(const Backend& device, int needed) {
  const int there = device.gpus();
  if (needed > there)
    return fmt::format("that takes {}, and {} here", plural(needed, "GPU"),
                       there == 1 ? "there is one" : fmt::format("there are {}", there));
  const std::string first = device.kind_of(0);
  for (int gpu = 1; gpu < needed; ++gpu)
    if (const std::string kind = device.kind_of(gpu); kind != first)
      return fmt::format("GPU 0 is {}, GPU {} is {}: choose cards of one kind with CUDA_VISIBLE_DEVICES",
                         first, gpu, kind);
  return "";
}

std::string missing_peer_access(int gpus, const std::function<bool(int gpu, int other)>& can_reach) {
  for (int gpu = 0; gpu < gpus; ++gpu)
    for (int other = 0; other < gpus; ++other)
      if (gpu != other && !can_reach(gpu, other))
        return fmt::format("peer access (NVLink, or PCIe with it) from GPU {} to GPU {}", gpu, other);
  return "";
}

}  // namespace workbook
