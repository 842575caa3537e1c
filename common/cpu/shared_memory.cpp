#include "cpu/shared_memory.hpp"

#include "cpu/launch_limits.hpp"
#include "cpu/runtime.hpp"

namespace cpu {
namespace {

/// Dynamic shared memory is in the middle of it.
constexpr std::size_t kRedZone = std::size_t{1} << 20;
alignas(128) char storage[kRedZone + kMostSharedBytes + kRedZone];

}  // namespace

void SharedMemory::begin_launch(const Region& statics, std::size_t dynamic_bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(storage);
  statics_ = statics;
  dynamic_ = {begin + kRedZone, dynamic_bytes};
  around_dynamic_ = {begin, sizeof storage};
  if (statics.size > 0)
    around_statics_ = {statics.begin - kMostStaticSharedBytes, statics.size + 2 * kMostStaticSharedBytes};
}

std::size_t SharedMemory::most_bytes() const { return statics_.size + kMostSharedBytes; }

void* dynamic_shared_memory() { return storage + kRedZone; }

}  // namespace cpu
