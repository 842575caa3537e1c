/// \file
/// Stage 4: more bytes in flight. Each thread loads several vectors before it uses the first, so that
/// fewer threads keep the memory system busy, and stores with a hint that the result is not needed again
/// soon.
#pragma once
#include "03_float4.cuh"

namespace DEVICE::multiply_add {

// [constants]
/// Vectors that a thread loads from each array before it uses one: 3 * 2 * 16 = 96 bytes in flight.
constexpr unsigned kInFlight = 2;
constexpr unsigned kInFlightThreads = 1024;
constexpr unsigned kInFlightTile = kInFlight * kInFlightThreads;  // vectors per block
// [constants]

/// out[i] = q[i] * k[i] + v[i], in blocks of kInFlightThreads threads with kInFlight vectors each,
/// one block width apart so that every request stays coalesced; any n, any alignment. Traffic: that of
/// stage 3.
__global__ void in_flight(const float* __restrict__ q, const float* __restrict__ k,
                          const float* __restrict__ v, float* __restrict__ out, int n) {
  const Split at = split(q, k, v, out, n);
  const float4* q4 = reinterpret_cast<const float4*>(q + at.head);
  const float4* k4 = reinterpret_cast<const float4*>(k + at.head);
  const float4* v4 = reinterpret_cast<const float4*>(v + at.head);
  float4* out4 = reinterpret_cast<float4*>(out + at.head);

  // [loads]
  const unsigned first = blockIdx.x * kInFlightTile + threadIdx.x;
  if ((blockIdx.x + 1) * kInFlightTile <= at.vectors) {
    float4 a[kInFlight], b[kInFlight], c[kInFlight];
#pragma unroll
    for (unsigned j = 0; j < kInFlight; ++j) {
      const unsigned i = first + j * kInFlightThreads;
      a[j] = q4[i];
      b[j] = k4[i];
      c[j] = v4[i];
    }
#pragma unroll
    for (unsigned j = 0; j < kInFlight; ++j) {
      __stcs(&out4[first + j * kInFlightThreads], multiply_add(a[j], b[j], c[j]));
    }
  } else {  // the last block, which need not be full
    for (unsigned i = first; i < at.vectors; i += kInFlightThreads)
      out4[i] = multiply_add(q4[i], k4[i], v4[i]);
  }
  // [loads]

  multiply_add_singles(at, q, k, v, out, n);
}

// --- On the host ---

struct InFlight {
  static constexpr Stage row = kElementwise.with(
      {.name = "04_in_flight", .idea = "several loads in flight per thread, and streaming hints"});
  static void run(const Data& data) {
    const int n = length(data.shape);
    launch(in_flight, ceil_div(n, 4 * kInFlightTile), kInFlightThreads, data[kQ], data[kK], data[kV],
           data[kOut], n);
  }
  static Traffic traffic(const Shape& s) { return {3 * vector_bytes(s), vector_bytes(s)}; }
};

}  // namespace DEVICE::multiply_add
