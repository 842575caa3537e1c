#include "cpu_device/memory/array_parts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

namespace cpu {
namespace {

constexpr std::size_t kSector = 32, kSectorsOfGroup = 64;

/// The bytes of a word that a worker has accessed, and written, a bit each. May say too many.
struct BytesUsed {
  unsigned accessed = 0, written = 0;
};

/// The bytes that a word's history names. If part of the history is kept elsewhere: all bytes.
BytesUsed bytes_used(const WordHistory& word) {
  if (word.flags & WordHistory::kMore) return {0xf, 0xf};
  return {(word.writer | word.reader | word.other) & 0xf, word.writer & 0xf};
}

/// Whether the parts share no byte of a sector that several of them use and at least one writes.
bool sector_independent(Buffer& array, std::size_t sector, unsigned workers, std::uint32_t launch) {
  for (std::size_t word = sector * kSector / 4; word < (sector + 1) * kSector / 4; ++word) {
    BytesUsed before;
    for (unsigned worker = 0; worker <= workers; ++worker) {
      const WordHistory* notes = array.seen_by(worker).last_accesses.find(word, launch);
      if (!notes) continue;  // the worker has not come here
      const BytesUsed now = bytes_used(*notes);
      if ((now.written & before.accessed) || (now.accessed & before.written)) return false;
      before.accessed |= now.accessed;
      before.written |= now.written;
    }
  }
  return true;
}

}  // namespace

void make_notes(Buffer& array, unsigned workers) {
  if (!array.saved) array.saved = std::make_unique_for_overwrite<char[]>(array.data.size);
  while (array.of_worker.size() < workers)
    array.of_worker.push_back(
        std::make_unique<Buffer>(array.data, array.pages, array.name, array.element_size));
}

void begin_part(Buffer& array, unsigned worker) {
  Buffer& mine = array.seen_by(worker);
  mine.written = array.written;
  mine.cold_cache.clear();
}

void save_share(Buffer& array, unsigned share, unsigned shares) {
  const std::size_t begin = array.data.size * share / shares, end = array.data.size * (share + 1) / shares;
  std::memcpy(array.saved.get() + begin, reinterpret_cast<const char*>(array.data.begin) + begin,
              end - begin);
}

void restore(Buffer& array) {
  std::memcpy(reinterpret_cast<void*>(array.data.begin), array.saved.get(), array.data.size);
}

bool parts_independent(Buffer& array, unsigned workers, std::uint32_t launch) {
  for (std::size_t group = 0; group < array.cold_cache.groups(); ++group) {
    std::uint64_t accessed = 0, written = 0, shared = 0;
    for (unsigned worker = 0; worker <= workers; ++worker) {
      const ColdCache& cache = array.seen_by(worker).cold_cache;
      const std::uint64_t writes = cache.written_sectors(group), both = cache.read_sectors(group) | writes;
      shared |= (writes & accessed) | (both & written);
      accessed |= both;
      written |= writes;
    }
    for (; shared; shared &= shared - 1)
      if (!sector_independent(array,
                              group * kSectorsOfGroup + static_cast<unsigned>(std::countr_zero(shared)),
                              workers, launch))
        return false;
  }
  return true;
}

void join_parts(Buffer& array, unsigned workers) {
  constexpr std::size_t kGroup = kSector * kSectorsOfGroup;
  for (unsigned worker = 1; worker <= workers; ++worker) {
    const Buffer& part = array.seen_by(worker);
    array.cold_cache.add(part.cold_cache);
    for (std::size_t group = 0; group < part.cold_cache.groups(); ++group)
      if (part.cold_cache.written_sectors(group))
        array.written.add(part.written, group * kGroup, (group + 1) * kGroup);
  }
}

}  // namespace cpu
