#include "cpu/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "cpu/device.hpp"

namespace cpu {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlignment = 256;  // as cudaMalloc
constexpr std::size_t kArenaBytes = std::size_t{1} << 40;
constexpr std::size_t kSmallestArena = std::size_t{1} << 30;

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

bool give_access(const Region& pages, bool open) {
  return mprotect(reinterpret_cast<void*>(pages.begin), pages.size,
                  open ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

}  // namespace

Memory::Memory() {
  void* base = MAP_FAILED;
  std::size_t size = kArenaBytes;
  for (; size >= kSmallestArena && base == MAP_FAILED; size /= 2)
    base = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::runtime_error("the CPU device found no address space for its memory");
  arena_ = {reinterpret_cast<std::uintptr_t>(base), size * 2};
}

Memory::~Memory() { munmap(reinterpret_cast<void*>(arena_.begin), arena_.size); }

void* Memory::allocate(std::size_t bytes, std::size_t misalignment, std::string name,
                       std::size_t element_size) {
  const std::size_t size = round_up(misalignment + bytes, kPage);
  const std::size_t red_zone = kPage;
  // First fit: the first gap between two arrays that holds this one and a red zone on either side.
  std::uintptr_t begin = arena_.begin + red_zone;
  auto next = buffers_.begin();
  while (next != buffers_.end() && begin + size + red_zone > (*next)->pages.begin) {
    begin = (*next)->pages.begin + (*next)->pages.size + red_zone;
    ++next;
  }
  if (begin + size + red_zone > arena_.begin + arena_.size) throw std::bad_alloc();
  if (!give_access({begin, size}, open_)) throw std::bad_alloc();

  static_assert(kPage % kAlignment == 0 && kPage % (4 * LastAccesses::kChunk) == 0);
  const Region data = {begin + misalignment, bytes}, pages = {begin, size};
  buffers_.insert(next, std::make_unique<Buffer>(data, pages, std::move(name), element_size));
  return reinterpret_cast<void*>(data.begin);
}

void Memory::release(void* data) {
  const auto found = std::find_if(buffers_.begin(), buffers_.end(), [&](const auto& buffer) {
    return buffer->data.begin == reinterpret_cast<std::uintptr_t>(data);
  });
  if (found == buffers_.end()) throw std::logic_error("release of an address that was not allocated");
  void* pages = reinterpret_cast<void*>((*found)->pages.begin);
  // A new mapping in the same place gives the memory back and takes the rights away.
  mmap(pages, (*found)->pages.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
  buffers_.erase(found);
}

Buffer* Memory::owner(std::uintptr_t address) {
  const auto after = std::upper_bound(buffers_.begin(), buffers_.end(), address,
                                      [](std::uintptr_t a, const auto& b) { return a < b->pages.begin; });
  if (after == buffers_.begin()) return nullptr;
  Buffer* buffer = std::prev(after)->get();
  return buffer->pages.contains(address) ? &buffer->seen_by(device().worker) : nullptr;
}

const Buffer* Memory::nearest(std::uintptr_t address) const {
  const Buffer* best = nullptr;
  std::size_t best_distance = 0;
  for (const auto& buffer : buffers_) {
    const Region& data = buffer->data;
    const std::size_t distance = address < data.begin     ? data.begin - address
                                 : data.contains(address) ? 0
                                                          : address - (data.begin + data.size);
    if (!best || distance < best_distance) {
      best = buffer.get();
      best_distance = distance;
    }
  }
  return best;
}

void Memory::set_initialised(const void* data, std::size_t bytes, bool initialised) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  Buffer* buffer = owner(address);
  if (!buffer) throw std::logic_error("no array lies at the address that the host writes");
  const std::size_t offset = address - buffer->pages.begin;
  buffer->written.set(offset, offset + bytes, initialised);
}

void Memory::set_access(bool open) {
  if (open == open_) return;
  open_ = open;
  for (const auto& buffer : buffers_)
    if (!give_access(buffer->pages, open)) throw std::runtime_error("the CPU device cannot open its memory");
}

void Memory::clear_cold_caches() {
  for (const auto& buffer : buffers_) buffer->cold_cache.clear();
}

void Memory::count_compulsory(workbook::Counts& counts) const {
  for (const auto& buffer : buffers_) {
    counts.compulsory_read_bytes += buffer->cold_cache.read_bytes();
    counts.compulsory_write_bytes += buffer->cold_cache.written_bytes();
  }
}

Memory& memory() {
  static Memory instance;
  return instance;
}

}  // namespace cpu
