/// \file
/// Stage 6: more bytes in flight. With two arrays where chapter 01 had three, a thread has fewer loads in
/// flight: let it load two vectors of each array before it uses the first.
#pragma once
#include "04_float4.cuh"

namespace DEVICE::add_mul_exp {

constexpr unsigned kInFlight = 2;  ///< vectors of each array that a thread loads before it uses one
constexpr unsigned kInFlightThreads = 512;
constexpr unsigned kInFlightTile = kInFlight * kInFlightThreads;  // vectors per block

/// out[i] = exp((x[i] + y[i]) * 2), in blocks of kInFlightThreads threads with kInFlight vectors each. A
/// thread's vectors are one block width apart, so that every request stays coalesced. Any n, any alignment.
/// Traffic: that of stage 4.
__global__ void in_flight(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
                          int n) {
  const Split at = split<4>(n, x, y, out);
  const float4* x4 = reinterpret_cast<const float4*>(x + at.head);
  const float4* y4 = reinterpret_cast<const float4*>(y + at.head);
  float4* out4 = reinterpret_cast<float4*>(out + at.head);

  // [in_flight]
  const unsigned first = blockIdx.x * kInFlightTile + threadIdx.x;
  float4 a[kInFlight], b[kInFlight];
#pragma unroll
  for (unsigned j = 0; j < kInFlight; ++j) {
    const unsigned i = first + j * kInFlightThreads;
    if (i < at.vectors) {
      a[j] = x4[i];
      b[j] = y4[i];
    }
  }
#pragma unroll
  for (unsigned j = 0; j < kInFlight; ++j) {
    const unsigned i = first + j * kInFlightThreads;
    if (i < at.vectors)
      out4[i] = make_float4(add_mul_exp(a[j].x, b[j].x), add_mul_exp(a[j].y, b[j].y),
                            add_mul_exp(a[j].z, b[j].z), add_mul_exp(a[j].w, b[j].w));
  }
  // [in_flight]

  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned s = thread; s < at.singles(); s += gridDim.x * blockDim.x) {
    const unsigned i = at.single(s);
    out[i] = add_mul_exp(x[i], y[i]);
  }
}

// --- On the host ---

struct InFlight {
  static constexpr Stage row =
      kElementwise.with({.name = "06_in_flight", .idea = "two vectors of each array in flight per thread"});
  static void run(const Data& data) {
    const int n = length(data.shape);
    launch(in_flight, ceil_div(n, 4 * kInFlightTile), kInFlightThreads, data[kX], data[kY], data[kOut], n);
  }
  static Traffic traffic(const Shape& s) { return vector_traffic(s, 4, 4); }
};

}  // namespace DEVICE::add_mul_exp
