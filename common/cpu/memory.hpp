/// \file
/// The CPU device's memory. Arrays lie in one reserved range of addresses with unmapped red zones between
/// them, so that an access can be told to be the device's, and outside every array, from its address alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace cpu {

/// A range of addresses.
struct Region {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  bool contains(std::uintptr_t address) const { return address - begin < size; }
};

/// Who touched a 4-byte word of device memory last. Fourteen bytes, so that the shadow of an array, with the
/// bits below, takes less than four times its size; only what is touched becomes real memory.
struct [[gnu::packed]] LastAccess {
  /// Linear number of the thread in the grid plus one in the upper 28 bits, 0 for none; the word's bytes, a
  /// bit each, in the lower 4.
  std::uint32_t writer, reader;
  /// Barriers that its block had passed, and in the top bit of the writer's whether it was atomic.
  std::uint16_t writer_phase, reader_phase;
  std::uint8_t writer_site, reader_site;  ///< number of the instruction
};
static_assert(sizeof(LastAccess) == 14);

constexpr std::size_t kShadowChunk = 1024;  ///< words whose last accesses are forgotten together

constexpr std::uint32_t kMostTracedThreads = (1u << 28) - 1;  ///< of a grid that is checked for races
constexpr std::uint16_t kMostPhases = 0x7fff;                 ///< of a block, likewise
constexpr std::uint16_t kAtomicPhase = 0x8000;

/// One array in device memory and what a launch has touched of it.
struct Buffer {
  Region data;
  Region pages;  ///< the mapped pages around `data`
  std::string name;
  std::size_t element_size;
  bool touched = false;
  std::unique_ptr<LastAccess[], decltype(&std::free)> last_access{nullptr, &std::free};  ///< by word
  std::vector<std::uint32_t> chunk_launch;     ///< by kShadowChunk words: the launch that they are noted for
  std::vector<std::uint64_t> read_pairs;       ///< a bit for each 64-byte pair of sectors
  std::vector<std::uint64_t> written_sectors;  ///< a bit for each 32-byte sector
  std::vector<std::uint16_t> initialised;      ///< a bit for each byte that host or kernel has written

  /// The last accesses in launch number `launch` from word `first` to the end of its chunk.
  LastAccess* last_accesses(std::uint32_t launch, std::size_t first) {
    std::uint32_t& noted = chunk_launch[first / kShadowChunk];
    if (noted != launch) {
      noted = launch;
      std::memset(&last_access[first / kShadowChunk * kShadowChunk], 0, kShadowChunk * sizeof(LastAccess));
    }
    return &last_access[first];
  }

  /// Counts a read of the sector at `address`. Returns the bytes that a cold cache fetches for it: 64 the
  /// first time, since DRAM is read in pairs of sectors; 0 later, or when the launch itself wrote the sector.
  unsigned read(std::uintptr_t address);
  /// Counts a write; returns the bytes that must reach DRAM: 32 the first time, then 0.
  unsigned write(std::uintptr_t address);
  void forget_touches();

  /// Whether all `size` bytes at `address` have been written; they lie within an aligned 16.
  bool is_initialised(std::uintptr_t address, unsigned size) const {
    const std::size_t offset = address - pages.begin;
    const unsigned bits = ((1u << size) - 1) << offset % 16;
    return (initialised[offset / 16] & bits) == bits;
  }
  void initialise(std::uintptr_t address, unsigned size) {
    const std::size_t offset = address - pages.begin;
    initialised[offset / 16] |= static_cast<std::uint16_t>(((1u << size) - 1) << offset % 16);
  }
};

/// All arrays in device memory.
class Memory {
 public:
  Memory();
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// An array of `bytes` bytes that begins `misalignment` bytes after a multiple of 256. \throws
  /// std::bad_alloc
  void* allocate(std::size_t bytes, std::size_t misalignment, std::string name, std::size_t element_size);
  void release(void* data);

  /// The array on whose pages `address` lies, or null. It may still lie before or after the array's data.
  Buffer* owner(std::uintptr_t address);
  /// The array that starts or ends nearest to `address`, or null when there are none.
  const Buffer* nearest(std::uintptr_t address) const;

  /// Notes that the host has written these bytes, or that they are to count as never written.
  void set_initialised(const void* data, std::size_t bytes, bool initialised);

  /// Opens or closes all arrays to the processor; a new memory is open.
  void set_access(bool open);

  /// Opens or closes the memory for as long as it lives.
  class Access {
   public:
    Access(Memory& memory, bool open) : memory_(memory), before_(memory.open_) { memory_.set_access(open); }
    ~Access() { memory_.set_access(before_); }
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    Memory& memory_;
    bool before_;
  };

  const Region& arena() const { return arena_; }
  void forget_touches();

 private:
  Region arena_;
  bool open_ = true;
  std::vector<std::unique_ptr<Buffer>> buffers_;  // in order of address
};

Memory& memory();

}  // namespace cpu
