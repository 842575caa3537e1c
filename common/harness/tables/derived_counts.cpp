#include "harness/tables/derived_counts.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace workbook {
namespace {

using nlohmann::ordered_json;

constexpr long long kSectorBytes = 32;

std::optional<double> efficiency(long long used_bytes, long long sector_bytes) {
  if (sector_bytes == 0) return std::nullopt;
  return static_cast<double>(used_bytes) / static_cast<double>(sector_bytes);
}

}  // namespace

long long read_bytes(const Counts& counts) { return kSectorBytes * counts.load_sectors; }

long long written_bytes(const Counts& counts) { return kSectorBytes * counts.store_sectors; }

long long shared_wavefronts(const Counts& counts) {
  return counts.shared_load_wavefronts + counts.shared_store_wavefronts;
}

std::optional<double> load_efficiency(const Counts& counts) {
  return efficiency(counts.load_bytes, read_bytes(counts));
}

std::optional<double> store_efficiency(const Counts& counts) {
  return efficiency(counts.store_bytes, written_bytes(counts));
}

ordered_json counts_json(const Counts* counts) {
  const auto field = [&](auto Counts::*member) {
    return counts ? ordered_json(counts->*member) : ordered_json(nullptr);
  };
  return {{"load_requests", field(&Counts::load_requests)},
          {"load_sectors", field(&Counts::load_sectors)},
          {"load_bytes", field(&Counts::load_bytes)},
          {"store_requests", field(&Counts::store_requests)},
          {"store_sectors", field(&Counts::store_sectors)},
          {"store_bytes", field(&Counts::store_bytes)},
          {"shared_requests", field(&Counts::shared_requests)},
          {"shared_load_wavefronts", field(&Counts::shared_load_wavefronts)},
          {"shared_store_wavefronts", field(&Counts::shared_store_wavefronts)},
          {"shared_loads_may_merge", field(&Counts::shared_loads_may_merge)},
          {"atomic_sectors", field(&Counts::atomic_sectors)},
          {"shared_atomic_requests", field(&Counts::shared_atomic_requests)},
          {"contended", field(&Counts::contended)},
          {"approximate", field(&Counts::approximate)},
          {"peer_requests", field(&Counts::peer_requests)},
          {"peer_load_sectors", field(&Counts::peer_load_sectors)},
          {"peer_store_sectors", field(&Counts::peer_store_sectors)},
          {"compulsory_read_bytes", field(&Counts::compulsory_read_bytes)},
          {"compulsory_write_bytes", field(&Counts::compulsory_write_bytes)}};
}

const char* text_of(RequestKind kind) {
  switch (kind) {
    case RequestKind::kLoad:
      return "load";
    case RequestKind::kStore:
      return "store";
    case RequestKind::kAtomic:
      return "atomic";
    case RequestKind::kCopy:
      return "copy";
    case RequestKind::kBarrier:
      return "barrier";
  }
  throw std::logic_error("a kind of request without a name");
}

const char* text_of(MemorySpace space) { return space == MemorySpace::kShared ? "shared" : "global"; }

ordered_json launch_json(const LaunchCounts& launch) {
  return {{"kernel", launch.kernel},
          {"grid", {launch.grid.x, launch.grid.y, launch.grid.z}},
          {"block", {launch.block.x, launch.block.y, launch.block.z}}};
}

}  // namespace workbook
