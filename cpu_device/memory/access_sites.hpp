/// \file
/// The load and store instructions of the kernels that have run.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cpu_device/access.hpp"
#include "cpu_device/lanes.hpp"
#include "cpu_device/memory/buffer.hpp"
#include "cpu_device/memory/shared_loads.hpp"

namespace cpu {

struct OpenRequest;

/// One load or store instruction of a kernel, with the open requests of the running warp.
struct alignas(64) Site {
  std::uintptr_t instruction;
  Space space;
  AccessKind kind;
  std::uint8_t number = 0;        ///< in the launch, from 1; 0 while it has none
  bool asked_for_number = false;  ///< in the launch
  bool in_segment = false;
  unsigned size;
  Buffer* buffer = nullptr;  ///< the array of the last global access: the next one's most likely array

  OpenRequest* first = nullptr;   ///< in the order in which a lane passes their positions
  OpenRequest* cursor = nullptr;  ///< the last that `cursor_lane` added to
  unsigned cursor_lane = kWarpSize;
  unsigned open = 0;  ///< requests in the list

  bool is_volatile = false;  ///< once it has been accessed
  SharedLoads shared_loads;
};

/// Finds the site of an access. One instruction has several where it both loads and stores (memcpy).
class Sites {
 public:
  /// Starts a new launch: arrays may have come and gone since the last.
  void begin_launch();

  Site& at(std::uintptr_t instruction, Space space, AccessKind kind, unsigned size) {
    Cached& cached = cache_[instruction / 2 % kCacheSize];
    const std::uintptr_t key = key_of(instruction, space, kind, size);
    if (cached.key != key) cached = {key, &find(instruction, space, kind, size)};
    return *cached.site;
  }
  /// The site of the instruction's last accesses in any space, where it is one of the last that were found;
  /// else null.
  Site* cached(std::uintptr_t instruction, AccessKind kind, unsigned size) {
    const Cached& cached = cache_[instruction / 2 % kCacheSize];
    return (cached.key & ~kSpaceBits) == key_of(instruction, Space{}, kind, size) ? cached.site : nullptr;
  }
  /// Numbers the site if it has no number, as long as there are numbers.
  void give_number(Site& site);
  /// The site with that number; null for number 0.
  const Site* numbered(std::uint8_t number) const { return number ? numbered_[number - 1] : nullptr; }
  /// Whether nvcc may have merged loads from shared memory of this launch into wider ones.
  bool shared_loads_may_merge();
  /// The sites of these loads.
  std::vector<const Site*> mergeable_shared_loads();

 private:
  static constexpr unsigned kCacheSize = 1024;
  static constexpr std::uintptr_t kSpaceBits = 3 * 4 * 32;  // of a key
  struct Cached {
    std::uintptr_t key = 0;
    Site* site = nullptr;
  };

  static std::uintptr_t key_of(std::uintptr_t instruction, Space space, AccessKind kind, unsigned size) {
    const std::uintptr_t access = static_cast<unsigned>(space) * 4 + static_cast<unsigned>(kind);
    return (instruction * 16 + access) * 32 + size;
  }
  Site& find(std::uintptr_t instruction, Space space, AccessKind kind, unsigned size);

  std::unordered_map<std::uintptr_t, std::unique_ptr<Site>> sites_;
  std::vector<const Site*> numbered_;
  Cached cache_[kCacheSize];
};

}  // namespace cpu
