/// \file
/// How many wavefronts (passes over the banks) shared memory needs for one request of a warp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_device/lanes.hpp"

namespace cpu {

/// One request: the addresses that the lanes in `mask` access with one instruction.
struct Request {
  std::uintptr_t address[kWarpSize];
  std::uint32_t mask = 0;

  /// Whether all lanes take part, each `stride` bytes after the one before it. No branch ends the loop early:
  /// compilers compare several lanes at once.
  bool is_even(std::size_t stride) const {
    if (mask != 0xffffffff) return false;
    std::uintptr_t differences = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
      differences |= address[lane] ^ (address[0] + lane * stride);
    return differences == 0;
  }
};

/// Wavefronts of a shared-memory request whose lanes access `size` bytes each (1, 2, 4, 8 or 16).
///
/// Shared memory has 32 banks of 4 bytes and serves one word of each bank per wavefront; lanes that access
/// the same word share it. With up to 32 bits per lane, the warp is served as a whole. 64-bit accesses are
/// served by half-warps, but as a whole when every lane i has the address of lane i^1, or every lane i that
/// of lane i^2; the other lane must take part. 128-bit accesses follow the same rule within each half-warp,
/// by quarters. The rule was fitted to access patterns measured on an H200; tests/kernels/counted.cu checks
/// it.
unsigned wavefronts(const Request& request, unsigned size);

/// One lane's asynchronous copy from `source` in device memory to `target` in shared memory, as the address
/// of a Request.
struct Copy {
  std::uintptr_t source;  ///< of 47 bits, a multiple of the copy's size
  std::uintptr_t target;  ///< of which 18 bits tell all places apart
  bool reads;             ///< or fills the target with zeros
  unsigned zeros;         ///< bytes at the end of one that reads that are zeros instead
};
constexpr std::uintptr_t packed(const Copy& copy) {
  return std::uintptr_t{copy.reads} << 63 | (copy.source | copy.zeros) << 16 | (copy.target / 4 & 0xffff);
}
constexpr Copy unpacked_copy(std::uintptr_t address, unsigned size) {
  const std::uintptr_t source = address << 1 >> 17, zeros = source % size;
  return {source - zeros, (address & 0xffff) * 4, address >> 63 != 0, static_cast<unsigned>(zeros)};
}

struct CopyCost {
  unsigned sectors, wavefronts;
};

/// Cost of a request of asynchronous copies of `size` bytes each (4, 8 or 16).
///
/// 4 and 8 bytes go through the L1 cache: sectors as for a load. The bytes from one line of 128 bytes in
/// device memory are stored by themselves, so copies from several rows of a matrix take a wavefront for each
/// row.
///
/// 16 bytes bypass the L1 cache, and the hardware counts them by what one line in device memory sends to
/// shared memory. Sectors: the aligned 32 bytes of shared memory that it is stored to. Wavefronts: the lines
/// of 128 bytes there, each once for every value that the low two bits of (source / 16) ^ (target / 16) take
/// among its lanes. So a tile whose rows keep their 16-byte pieces in place, or are swizzled by an exclusive
/// or, costs the least; rows that are padded by 16 bytes cost up to four times that. The rules were fitted to
/// access patterns measured on an H200; tests/kernels/counted_tensor.cu checks them, and so does stage 8 of
/// chapter 05.
CopyCost copy_cost(const Request& request, unsigned size);

}  // namespace cpu
