#include "harness/backends/gpus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "system/errors.hpp"
#include "system/plural.hpp"

namespace workbook {

namespace {

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char c : list) c == ',' ? parts.emplace_back() : parts.back() += c;
  return parts;
}

}  // namespace

std::string visible_devices(const std::string& chosen, const char* visible) {
  const auto refuse = [&](const std::string& why) {
    return UsageError(fmt::format("--gpus {}: {}", chosen, why));
  };
  if (visible && !*visible) throw refuse(fmt::format("{} is empty, so there is none", kVisibleDevices));
  std::vector<std::string> devices;
  for (const std::string& part : parts_of(chosen)) {
    int number = -1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || number < 0)
      throw refuse("expected numbers of GPUs, from 0, separated by commas");
    std::string device = part;
    if (visible) {
      const std::vector<std::string> shown = parts_of(visible);
      if (number >= static_cast<int>(shown.size()))
        throw refuse(
            fmt::format("{} is {}, which is {}", kVisibleDevices, visible, plural(shown.size(), "GPU")));
      device = shown[static_cast<std::size_t>(number)];
    }
    if (std::ranges::count(devices, device)) throw refuse("a GPU can take one part alone");
    devices.push_back(device);
  }
  return fmt::format("{}", fmt::join(devices, ","));
}

std::string why_not_shared(const Backend& device, int needed) {
  const int there = device.gpus();
  if (needed > there)
    return fmt::format("that takes {}, and {} here", plural(needed, "GPU"),
                       there == 1 ? "there is one" : fmt::format("there are {}", there));
  const std::string first = device.kind_of(0);
  for (int gpu = 1; gpu < needed; ++gpu)
    if (const std::string kind = device.kind_of(gpu); kind != first)
      return fmt::format("GPU 0 is {}, GPU {} is {}: all must be of one kind: --gpus or {} chooses them",
                         first, gpu, kind, kVisibleDevices);
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
