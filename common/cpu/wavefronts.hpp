/// \file
/// How many passes shared memory needs for one request of a warp.
#pragma once

#include <cstdint>

#include "cpu/lanes.hpp"

namespace cpu {

/// One request: the addresses that the lanes in `mask` touch with one instruction.
struct Request {
  std::uint32_t mask = 0;
  std::uintptr_t address[kWarpSize];
};

/// Wavefronts of a shared-memory request whose lanes access `size` bytes each (1, 2, 4, 8 or 16).
///
/// Shared memory has 32 banks of 4 bytes and serves one word of each bank in a wavefront; lanes that want the
/// same word share it. Up to 32 bits a lane, the warp goes at once. 64-bit accesses go by half-warps, in one
/// wavefront all the same when every lane i wants what lane i^1 wants, or every lane what lane i^2 wants; the
/// other lane must take part. 128-bit accesses do so within each half-warp, by quarters. The rule was fitted
/// to access patterns measured on an H200; those of tests/kernels/counted.cu hold it.
unsigned wavefronts(const Request& request, unsigned size);

/// One lane's asynchronous copy from `source` in device memory to `target` in shared memory, as the address
/// of a Request.
struct Copy {
  std::uintptr_t source;  ///< of 47 bits
  std::uintptr_t target;  ///< of which 18 bits tell all places apart
  bool reads;             ///< or fills the target with zeros
};
constexpr std::uintptr_t packed(const Copy& copy) {
  return std::uintptr_t{copy.reads} << 63 | copy.source << 16 | (copy.target / 4 & 0xffff);
}
constexpr Copy unpacked_copy(std::uintptr_t address) {
  return {address << 1 >> 17, (address & 0xffff) * 4, address >> 63 != 0};
}

struct CopyCost {
  unsigned sectors, wavefronts;
};

/// Cost of a request of asynchronous copies of `size` bytes each (4, 8 or 16).
///
/// 4 and 8 bytes go through the L1 cache: sectors as for a load. What one line of 128 bytes in device memory
/// sends is stored by itself, so that copies from several rows of a matrix take a wavefront for each row.
///
/// 16 bytes go past the L1 cache, and the hardware counts them by what one line in device memory sends to
/// shared memory: as sectors, the aligned 32 bytes of shared memory that it goes to; as wavefronts, the lines
/// of 128 bytes there, each once for every value that the low two bits of (source / 16) ^ (target / 16) take
/// among its lanes. So a tile whose rows keep their 16-byte pieces in place, or swap them by an exclusive or,
/// costs the least; rows that are padded by 16 bytes cost up to four times as much. The rules were fitted to
/// access patterns measured on an H200; those of tests/kernels/counted_tensor.cu hold them, and stage 8 of
/// chapter 05.
CopyCost copy_cost(const Request& request, unsigned size);

}  // namespace cpu
