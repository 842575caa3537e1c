#include "cpu/shared_memory.hpp"

#include "cpu/launch_limits.hpp"
#include "cpu/runtime.hpp"

namespace cpu {
namespace {

alignas(128) char dynamic_storage[kMostSharedBytes];

}  // namespace

void SharedMemory::begin_launch(const Region& statics, std::size_t dynamic_bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(dynamic_storage);
  statics_ = statics;
  dynamic_ = {begin, dynamic_bytes};
  storage_ = {begin, kMostSharedBytes};
}

void* dynamic_shared_memory() { return dynamic_storage; }

}  // namespace cpu
