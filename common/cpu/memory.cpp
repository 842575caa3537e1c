#include "cpu/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <stdexcept>

namespace cpu {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlignment = 256;  // as cudaMalloc
constexpr std::size_t kArenaBytes = std::size_t{1} << 40;
constexpr std::size_t kSmallestArena = std::size_t{1} << 30;

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

/// Sets a bit and says whether it was clear.
bool set_bit(std::vector<std::uint64_t>& bits, std::size_t index) {
  const std::uint64_t bit = std::uint64_t{1} << (index % 64);
  std::uint64_t& word = bits[index / 64];
  const bool was_clear = !(word & bit);
  word |= bit;
  return was_clear;
}

bool has_bit(const std::vector<std::uint64_t>& bits, std::size_t index) {
  return bits[index / 64] >> (index % 64) & 1;
}

bool give_access(const Region& pages, bool open) {
  return mprotect(reinterpret_cast<void*>(pages.begin), pages.size,
                  open ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

}  // namespace

unsigned Buffer::read(std::uintptr_t address) {
  const std::size_t offset = address - pages.begin;
  if (has_bit(written_sectors, offset / 32)) return 0;
  touched = true;
  return set_bit(read_pairs, offset / 64) ? 64 : 0;
}

unsigned Buffer::write(std::uintptr_t address) {
  touched = true;
  return set_bit(written_sectors, (address - pages.begin) / 32) ? 32 : 0;
}

void Buffer::forget_touches() {
  if (!touched) return;
  std::fill(read_pairs.begin(), read_pairs.end(), 0);
  std::fill(written_sectors.begin(), written_sectors.end(), 0);
  touched = false;
}

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

  auto buffer = std::make_unique<Buffer>();
  static_assert(kPage % kAlignment == 0);
  buffer->data = {begin + misalignment, bytes};
  buffer->pages = {begin, size};
  buffer->name = std::move(name);
  buffer->element_size = element_size;
  buffer->read_pairs.resize(size / 64 / 64);
  buffer->written_sectors.resize(size / 32 / 64);
  buffer->initialised.resize(size / 16);
  static_assert(kPage % (4 * kShadowChunk) == 0);
  buffer->chunk_launch.resize(size / 4 / kShadowChunk);
  // malloc gives address space; it becomes memory as it is touched.
  buffer->last_access.reset(static_cast<LastAccess*>(std::malloc(size / 4 * sizeof(LastAccess))));
  if (!buffer->last_access) throw std::bad_alloc();
  void* data = reinterpret_cast<void*>(buffer->data.begin);
  buffers_.insert(next, std::move(buffer));
  return data;
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
  return buffer->pages.contains(address) ? buffer : nullptr;
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
  const auto begin = reinterpret_cast<std::uintptr_t>(data), end = begin + bytes;
  Buffer* buffer = owner(begin);
  if (!buffer) throw std::logic_error("no array lies at the address that the host writes");
  for (std::uintptr_t address = begin; address < end;) {
    const std::size_t offset = address - buffer->pages.begin;
    const auto size = static_cast<unsigned>(std::min<std::uintptr_t>(16 - offset % 16, end - address));
    const auto bits = static_cast<std::uint16_t>(((1u << size) - 1) << offset % 16);
    std::uint16_t& word = buffer->initialised[offset / 16];
    word = static_cast<std::uint16_t>(initialised ? word | bits : word & ~bits);
    address += size;
  }
}

void Memory::set_access(bool open) {
  if (open == open_) return;
  open_ = open;
  for (const auto& buffer : buffers_)
    if (!give_access(buffer->pages, open)) throw std::runtime_error("the CPU device cannot open its memory");
}

void Memory::forget_touches() {
  for (const auto& buffer : buffers_) buffer->forget_touches();
}

Memory& memory() {
  static Memory instance;
  return instance;
}

}  // namespace cpu
