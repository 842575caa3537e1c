/// \file
/// How many passes shared memory needs for one request of a warp.
#pragma once

#include <cstdint>

namespace cpu {

constexpr unsigned kWarpSize = 32;

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

}  // namespace cpu
