#include "cpu_device/memory/shared_memory.hpp"

namespace cpu {

/// Dynamic shared memory is in the middle of it.
constexpr std::size_t kRedZone = std::size_t{1} << 20;

struct SharedMemory::Storage {
  alignas(128) char bytes[kRedZone + kMostSharedBytes + kRedZone];
};

void SharedMemory::begin_launch(const Region& statics, std::size_t dynamic_bytes) {
  if (!memory_) memory_ = std::make_shared_for_overwrite<Storage>();
  const auto begin = reinterpret_cast<std::uintptr_t>(memory_->bytes);
  statics_ = statics;
  dynamic_offset_ = (statics.size + 15) / 16 * 16;  // words in shared memory are words of the shadows
  dynamic_ = {begin + kRedZone, dynamic_bytes};
  around_dynamic_ = {begin, sizeof(Storage)};
  if (statics.size > 0)
    around_statics_ = {statics.begin - kMostStaticSharedBytes, statics.size + 2 * kMostStaticSharedBytes};
}

}  // namespace cpu
