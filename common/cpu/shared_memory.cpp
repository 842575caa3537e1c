#include "cpu/shared_memory.hpp"

#include "cpu/device.hpp"
#include "cpu/launch_limits.hpp"
#include "cpu/runtime.hpp"

namespace cpu {

struct SharedMemory::Storage {
  alignas(128) char bytes[kMostSharedBytes];
};

void SharedMemory::begin_launch(const Region& statics, std::size_t dynamic_bytes) {
  if (!memory_) memory_ = std::make_shared<Storage>();
  const auto begin = reinterpret_cast<std::uintptr_t>(memory_->bytes);
  statics_ = statics;
  dynamic_ = {begin, dynamic_bytes};
  storage_ = {begin, kMostSharedBytes};
}

void* dynamic_shared_memory() {
  return reinterpret_cast<void*>(device().block.shared_memory.storage().begin);
}

}  // namespace cpu
