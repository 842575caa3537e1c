/// \file
/// Stage 1: one block of threads shares the array out as the cores of a CPU would: each thread gets one part
/// of it, from end to end. The threads of a warp are then a part apart, and each drags in a sector of its
/// own: 32 bytes read and 32 bytes written per element.
#pragma once
#include "problem.cuh"

namespace DEVICE::first_kernel {

/// out[i] = 2 * x[i], by one block. Thread t computes elements t * part to t * part + part - 1.
__global__ void twice_in_parts(const float* x, float* out, unsigned n) {
  const unsigned part = (n - 1) / blockDim.x + 1;  // n / threads, rounded up
  for (unsigned k = 0; k < part; ++k) {
    const unsigned i = threadIdx.x * part + k;
    if (i < n) out[i] = 2.0f * x[i];
  }
}

// --- On the host ---

/// The lanes of a warp are `part` elements apart. From 8 on each has a sector of its own; below, they touch
/// every sector from that of the first lane to that of the last.
inline long long sectors_in_parts(long long n) {
  constexpr long long kLanes = 32, kFloats = 8;  // of a warp, of a sector
  const long long part = (n - 1) / kThreads + 1;
  if (part >= kFloats) return n;
  long long sectors = 0;
  for (long long begin = 0; begin < n; begin += kLanes * part)
    for (long long first = begin; first < begin + part && first < n; ++first) {
      const long long lanes = (n - 1 - first) / part + 1;
      const long long last = first + ((lanes < kLanes ? lanes : kLanes) - 1) * part;
      sectors += last / kFloats - first / kFloats + 1;
    }
  return sectors;
}

struct OneBlock {
  static constexpr Stage row =
      kDoubles.with({.name = "01_one_block",
                     .idea = "one block of threads, each with a part of the array from end to end"});
  // [one block]
  static void run(const Data& data) {
    launch(twice_in_parts, 1, kThreads, data[kX], data[kOut], length(data.shape));
  }
  // [one block]
  static Traffic traffic(const Shape& s) {
    const long long bytes = 32 * sectors_in_parts(elements(s));
    return {bytes, bytes};
  }
};

}  // namespace DEVICE::first_kernel
