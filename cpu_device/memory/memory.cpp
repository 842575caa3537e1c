#include "cpu_device/memory/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "cpu_device/running_thread.hpp"

namespace cpu {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlignment = 256;  // as cudaMalloc
constexpr std::size_t kArenaBytes = std::size_t{1} << 45;
constexpr std::size_t kSmallestArena = std::size_t{1} << 30;
// Red zones of a full arena: 256 GiB. An address within half of one belongs to its nearest array: any 32-bit
// index that is wrong, of elements of up to 16 bytes. An address farther away, at the ends of the arena, was
// meant to be other memory.
constexpr std::size_t kRedZonesPerArena = 128;
constexpr std::size_t kMostReleased = 256;
// Room between an array and those released: an index that is wrong by less is one of the array.
constexpr std::size_t kGap = std::size_t{64} << 10;

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

Memory::Buffers::const_iterator Memory::first_after(std::uintptr_t address) const {
  return std::upper_bound(buffers_.begin(), buffers_.end(), address,
                          [](std::uintptr_t a, const auto& b) { return a < b->pages.begin; });
}

std::uintptr_t Memory::first_fit(std::size_t bytes, std::size_t red_zone) const {
  std::uintptr_t begin = arena_.begin + red_zone;
  for (const auto& next : buffers_) {
    if (!arena_.contains(next->pages.begin)) continue;
    begin = after_released(begin, bytes);
    if (begin + bytes + red_zone <= next->pages.begin) return begin;
    begin = next->pages.begin + next->pages.size + red_zone;
  }
  begin = after_released(begin, bytes);
  return begin + bytes + red_zone <= arena_.begin + arena_.size ? begin : 0;
}

std::uintptr_t Memory::after_released(std::uintptr_t begin, std::size_t bytes) const {
  for (const auto& [address, one] : released_)
    if (begin < address + one.pages.size + kGap && address < begin + bytes + kGap)
      begin = address + one.pages.size + kGap;
  return begin;
}

void Memory::remember_released(const Buffer& buffer) {
  released_[buffer.pages.begin] = {buffer.pages, buffer.name, ++releases_};
  released_bytes_ += buffer.pages.size;
  // Addresses that are kept free take a small part of a red zone.
  while (released_.size() > kMostReleased ||
         (released_bytes_ > arena_.size / kRedZonesPerArena / 4 && !released_.empty())) {
    const auto oldest =
        std::min_element(released_.begin(), released_.end(),
                         [](const auto& a, const auto& b) { return a.second.number < b.second.number; });
    released_bytes_ -= oldest->second.pages.size;
    released_.erase(oldest);
  }
}

const std::string* Memory::released_at(std::uintptr_t address) const {
  const auto after = released_.upper_bound(address);
  if (after == released_.begin()) return nullptr;
  const Released& one = std::prev(after)->second;
  return one.pages.contains(address) ? &one.name : nullptr;
}

void* Memory::allocate(std::size_t bytes, std::size_t misalignment, std::string name,
                       std::size_t element_size) {
  const std::size_t size = round_up(misalignment + bytes, kPage);
  std::uintptr_t begin = 0;
  for (std::size_t red_zone = arena_.size / kRedZonesPerArena; begin == 0; red_zone /= 2) {
    if (red_zone < kPage) throw std::bad_alloc();
    begin = first_fit(size, red_zone + kPage);  // no power of two: arrays of one size would share TLB sets
  }
  if (!give_access({begin, size}, open_)) throw std::bad_alloc();

  static_assert(kPage % kAlignment == 0 && kPage % (4 * LastAccesses::kChunk) == 0);
  const Region data = {begin + misalignment, bytes}, pages = {begin, size};
  auto buffer = std::make_unique<Buffer>(data, pages, std::move(name), element_size);
  buffer->version = ++version_;
  buffers_.insert(first_after(begin), std::move(buffer));
  return reinterpret_cast<void*>(data.begin);
}

void Memory::move_to_gpu(const void* data, unsigned gpu) { buffer_of_host(data).gpu = gpu; }

void Memory::share_with_host(const void* data) {
  Buffer& buffer = buffer_of_host(data);
  buffer.shared_with_host = true;
  if (!give_access(buffer.pages, true)) throw std::bad_alloc();
  set_initialised(data, buffer.data.size, true);
}

void Memory::adopt(const Region& variable, std::string name, std::size_t element_size) {
  if (variable.begin % kPage != 0)
    throw std::logic_error("a variable that begins no page cannot be an array");
  const Region pages = {variable.begin, round_up(variable.size, kPage)};
  auto buffer = std::make_unique<Buffer>(variable, pages, std::move(name), element_size);
  buffer->shared_with_host = true;
  buffer->written.set(0, pages.size, true);
  buffer->version = ++version_;
  buffers_.insert(first_after(pages.begin), std::move(buffer));
  const std::uintptr_t end = pages.begin + pages.size;
  if (adopted_.size == 0) adopted_ = pages;
  const std::uintptr_t first = std::min(adopted_.begin, pages.begin);
  adopted_ = {first, std::max(adopted_.begin + adopted_.size, end) - first};
}

bool Memory::add_host_array(const Region& data, std::string name, std::size_t element_size) {
  const std::uintptr_t begin = data.begin / kPage * kPage;
  const Region pages = {begin, round_up(data.begin + data.size - begin, kPage)};
  const auto shares_page = [&](const auto& other) {
    return pages.contains(other->pages.begin) || other->pages.contains(pages.begin);
  };
  if (std::any_of(buffers_.begin(), buffers_.end(), shares_page)) return false;
  auto buffer = std::make_unique<Buffer>(data, pages, std::move(name), element_size);
  buffer->shared_with_host = true;
  buffer->written.set(0, pages.size, true);
  buffer->version = ++version_;
  buffers_.insert(first_after(begin), std::move(buffer));
  host_arrays_.push_back(pages);
  return true;
}

bool Memory::remove_host_array(const void* data) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  if (!near_host_array(begin)) return false;
  ++version_;
  const auto removed = std::erase_if(buffers_, [&](const auto& each) { return each->data.begin == begin; });
  if (removed > 0) std::erase_if(host_arrays_, [&](const Region& pages) { return pages.contains(begin); });
  return removed > 0;
}

bool Memory::near_host_array(std::uintptr_t address) const {
  return std::any_of(host_arrays_.begin(), host_arrays_.end(),
                     [&](const Region& pages) { return pages.contains(address); });
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
  remember_released(**found);
  ++version_;
  buffers_.erase(found);
}

Buffer* Memory::owner(std::uintptr_t address) {
  const auto after = first_after(address);
  if (after == buffers_.begin()) return nullptr;
  Buffer* buffer = std::prev(after)->get();
  return buffer->pages.contains(address) ? &buffer->seen_by(running().worker) : nullptr;
}

const Buffer* Memory::nearest(std::uintptr_t address) const {
  const Buffer* best = nullptr;
  std::size_t best_distance = arena_.size / kRedZonesPerArena / 2;
  for (const auto& buffer : buffers_) {
    const Region& data = buffer->data;
    const std::size_t distance = address < data.begin     ? data.begin - address
                                 : data.contains(address) ? 0
                                                          : address - (data.begin + data.size);
    if (distance <= best_distance) {
      best = buffer.get();
      best_distance = distance;
    }
  }
  return best;
}

/// The array at an address that the host uses, between launches.
Buffer& Memory::buffer_of_host(const void* data) const {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const auto after = first_after(address);
  if (after == buffers_.begin() || !(*std::prev(after))->pages.contains(address))
    throw std::logic_error("there is no array at the address that the host uses");
  return **std::prev(after);
}

void Memory::set_initialised(const void* data, std::size_t bytes, bool initialised) {
  if (bytes == 0) return;  // an array without elements has no pages
  Buffer& buffer = buffer_of_host(data);
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(data) - buffer.pages.begin;
  buffer.written.set(offset, offset + bytes, initialised);
  buffer.version = ++version_;
}

bool Memory::is_initialised(const void* data, std::size_t bytes) const {
  const Buffer& buffer = buffer_of_host(data);
  return buffer.written.has(reinterpret_cast<std::uintptr_t>(data) - buffer.pages.begin,
                            static_cast<unsigned>(bytes));
}

void Memory::set_access(bool open) {
  if (open == open_) return;
  open_ = open;
  ++version_;
  for (const auto& buffer : buffers_)
    if (!buffer->shared_with_host && !give_access(buffer->pages, open))
      throw std::runtime_error("the CPU device cannot open its memory");
}

void Memory::note_writes() {
  for (const auto& buffer : buffers_)
    if (buffer->cold_cache.written_bytes() > 0) buffer->version = ++version_;
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

void Memory::take_compulsory(workbook::Counts& counts, unsigned gpu) {
  for (const auto& buffer : buffers_) {
    if (buffer->gpu != gpu) continue;
    counts.compulsory_read_bytes += buffer->cold_cache.read_bytes();
    counts.compulsory_write_bytes += buffer->cold_cache.written_bytes();
    buffer->cold_cache.clear();
  }
}

Memory& memory() {
  static auto& instance = *new Memory;  // never destroyed: a destructor after main may pass an address
  return instance;
}

}  // namespace cpu
