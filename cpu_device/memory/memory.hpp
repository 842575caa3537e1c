/// \file
/// The CPU device's memory. All arrays are in one reserved range of addresses, with unmapped red zones
/// around them. So an address alone tells whether it is the device's, whether it is outside every array, and
/// which array was meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cpu_device/counts.hpp"
#include "cpu_device/memory/buffer.hpp"
#include "cpu_device/region.hpp"

namespace cpu {

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
  /// The array is in that GPU's memory; a new one is in that of GPU 0.
  void move_to_gpu(const void* data, unsigned gpu);
  void release(void* data);
  /// Host code may use this array between launches, and all of it counts as written.
  void share_with_host(const void* data);
  /// Makes a variable of the program an array that is shared with the host. It stays where it is, and begins
  /// a page.
  void adopt(const Region& variable, std::string name, std::size_t element_size);

  /// The same for memory of the host, which need not begin a page. Returns false if one of its pages is
  /// another array's.
  bool add_host_array(const Region& data, std::string name, std::size_t element_size);
  /// Kernels can no longer use it. Returns false if there is no such array.
  bool remove_host_array(const void* data);
  /// Whether such an array is in the page of an address.
  bool near_host_array(std::uintptr_t address) const;
  /// Their pages.
  const std::vector<Region>& host_arrays() const { return host_arrays_; }

  /// The array whose pages hold `address`, as the calling thread's worker sees it, or null. The address may
  /// still be before or after the array's data.
  Buffer* owner(std::uintptr_t address);
  /// The array that an access to `address` was meant for: the one that starts or ends nearest to it. Null
  /// when none is near.
  const Buffer* nearest(std::uintptr_t address) const;
  /// The name of the released array that was at `address`. Null when there was none, or when too many others
  /// were released after it: then its address may be in use again.
  const std::string* released_at(std::uintptr_t address) const;

  /// Records that the host has written these bytes, or that they count as never written.
  void set_initialised(const void* data, std::size_t bytes, bool initialised);
  /// Whether host or kernels have written all of these bytes, which are within an aligned 16.
  bool is_initialised(const void* data, std::size_t bytes) const;

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

  /// Another number whenever something may have changed in the arrays that are not shared with the host, or
  /// an array has come or gone.
  std::size_t version() const { return version_; }
  /// Gives an array that was written a new version, or all that the last launch has written.
  void note_write(const void* data) { buffer_of_host(data).version = ++version_; }
  void note_writes();
  const Region& arena() const { return arena_; }
  /// The pages from the first to the last of the variables that have been adopted.
  const Region& adopted() const { return adopted_; }
  /// Empties the cold cache of every array: a new launch.
  void clear_cold_caches();
  /// Adds the compulsory bytes of the launch that has ended.
  void count_compulsory(workbook::Counts& counts) const;
  /// Adds those of the arrays in that GPU's memory so far, and empties their cold caches.
  void take_compulsory(workbook::Counts& counts, unsigned gpu);

  const std::vector<std::unique_ptr<Buffer>>& buffers() const { return buffers_; }

 private:
  using Buffers = std::vector<std::unique_ptr<Buffer>>;

  Buffer& buffer_of_host(const void* data) const;
  Buffers::const_iterator first_after(std::uintptr_t address) const;
  /// The lowest address for so many bytes, with a red zone on either side; 0 where there is none.
  std::uintptr_t first_fit(std::size_t bytes, std::size_t red_zone) const;
  /// The first address from `begin` on at which so many bytes are in no released array, nor near one.
  std::uintptr_t after_released(std::uintptr_t begin, std::size_t bytes) const;
  void remember_released(const Buffer& buffer);

  /// An array that was released. No other one gets its address for some time, so that its use is found.
  struct Released {
    Region pages;
    std::string name;
    std::size_t number;
  };

  Region arena_, adopted_ = {};
  std::vector<Region> host_arrays_;
  bool open_ = true;
  std::size_t version_ = 0;
  Buffers buffers_;                                // in order of address
  std::map<std::uintptr_t, Released> released_;    // the last ones, by address
  std::size_t releases_ = 0, released_bytes_ = 0;  // of all; of those in released_
};

Memory& memory();

}  // namespace cpu
