/// \file
/// Stage 4: sixteen elements per thread, and one 16-byte store. Four loads are in flight at once; the lanes
/// of a warp exchange the bytes through shared memory, so that both the loads and the store stay coalesced.
#pragma once
#include "03_packed.cuh"

namespace DEVICE::quantize_int8 {

constexpr unsigned kWideThreads = 256;

/// q[i] = the int8 of x[i], in blocks of kWideThreads threads with sixteen elements each; any n, any
/// alignment.
///
/// A warp has 512 elements. Lane t loads the float4 t, t + 32, t + 64 and t + 96 of them, and stores the
/// bytes 16 t to 16 t + 15. Traffic: reads 4 bytes and writes 1 byte per element, a quarter of stage 3's
/// stores.
__global__ void wide(const float* __restrict__ x, float scale, float zero_point, signed char* __restrict__ q,
                     int n) {
  __shared__ uint4 bytes[kWideThreads];
  const Split at = split<16>(n, x, q);
  const unsigned lane = threadIdx.x % 32;
  const unsigned first = blockIdx.x * kWideThreads + threadIdx.x - lane;  // of the warp's vectors of sixteen
  if (first + 32 <= at.vectors) {
    const float4* x4 = reinterpret_cast<const float4*>(x + at.head) + 4 * first;
    char4* exchanged = reinterpret_cast<char4*>(&bytes[threadIdx.x - lane]);
    // [exchange]
    float4 loaded[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) loaded[j] = x4[lane + 32 * j];
#pragma unroll
    for (int j = 0; j < 4; ++j) exchanged[lane + 32 * j] = quantized4(loaded[j], scale, zero_point);
    __syncwarp();
    reinterpret_cast<uint4*>(q + at.head)[first + lane] = bytes[threadIdx.x];
    // [exchange]
  }

  // The elements before the vectors, and those after the last full warp.
  const unsigned whole = at.vectors / 32 * 32 * 16;
  const Split rest = {at.n, whole > 0 ? whole : 1, at.head, whole > 0 ? 1u : 0u};
  quantize_singles(rest, x, scale, zero_point, q);
}

// --- On the host ---

struct Wide {
  static constexpr Stage row =
      kOneScale.with({.name = "04_wide", .idea = "sixteen elements per thread, one 16-byte store"});
  static void run(const Data& data) {
    const int n = sizes(data.shape).n;
    launch(wide, ceil_div(n, 16 * static_cast<int>(kWideThreads)), kWideThreads, data[kX], kScale, kZeroPoint,
           data[kQ], n);
  }
  /// A warp stores 32 vectors of sixteen, or none.
  static Traffic traffic(const Shape& s) { return vector_traffic(s, 32 * 16); }
};

}  // namespace DEVICE::quantize_int8
