// stages 3 and 4 of the lesson, pasted in
#pragma once
#include <cstdint>

#include "ceil_div.hpp"
#include "device.hpp"

namespace DEVICE::multiply_add_fuse {

/// How n elements fall into float4 vectors: `head` single elements, then 4 * `vectors`, then what is left.
struct Split {
  unsigned head;
  unsigned vectors;
};

/// A float4 must start at a multiple of 16 bytes, so the vectors start at the first element where all four
/// arrays do. Arrays that never do so at the same element have no vectors at all: everything is head.
__device__ inline Split split(const float* a, const float* b, const float* c, const float* d, unsigned n) {
  const auto phase = [](const float* p) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(p) / 4 % 4);
  };
  const bool together = phase(a) == phase(b) && phase(a) == phase(c) && phase(a) == phase(d);
  const unsigned to_boundary = (4 - phase(a)) % 4;
  const unsigned head = together && to_boundary < n ? to_boundary : n;
  return {head, (n - head) / 4};
}

__device__ inline float4 multiply_add(float4 q, float4 k, float4 v) {
  return make_float4(q.x * k.x + v.x, q.y * k.y + v.y, q.z * k.z + v.z, q.w * k.w + v.w);
}

/// out[i] = q[i] * k[i] + v[i] for the elements outside the vectors: a few before and after them, or all
/// where the arrays are not aligned alike. All threads of the grid share them out one by one.
__device__ inline void multiply_add_singles(Split split, const float* q, const float* k, const float* v,
                                            float* out, unsigned n) {
  const unsigned singles = n - 4 * split.vectors;
  for (unsigned s = blockIdx.x * blockDim.x + threadIdx.x; s < singles; s += gridDim.x * blockDim.x) {
    const unsigned i = s < split.head ? s : s + 4 * split.vectors;
    out[i] = q[i] * k[i] + v[i];
  }
}

/// out[i] = q[i] * k[i] + v[i], one thread per vector of four elements; any n, any alignment of the four
/// arrays. Traffic: reads 12 bytes and writes 4 bytes per element, with a quarter of the requests of stage 2.
__global__ void vectorised(const float* __restrict__ q, const float* __restrict__ k,
                           const float* __restrict__ v, float* __restrict__ out, int n) {
  const Split at = split(q, k, v, out, n);
  const float4* q4 = reinterpret_cast<const float4*>(q + at.head);
  const float4* k4 = reinterpret_cast<const float4*>(k + at.head);
  const float4* v4 = reinterpret_cast<const float4*>(v + at.head);
  float4* out4 = reinterpret_cast<float4*>(out + at.head);

  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < at.vectors) out4[i] = multiply_add(q4[i], k4[i], v4[i]);
  multiply_add_singles(at, q, k, v, out, n);
}

/// Vectors that a thread loads from each array before it uses one: 3 * 2 * 16 = 96 bytes in flight.
constexpr unsigned kInFlight = 2;
constexpr unsigned kInFlightThreads = 1024;
constexpr unsigned kInFlightTile = kInFlight * kInFlightThreads;  // vectors per block

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

  multiply_add_singles(at, q, k, v, out, n);
}

inline void multiply_add(const float* q, const float* k, const float* v, float* out, int n) {
  launch(in_flight, ceil_div(n, 4 * kInFlightTile), kInFlightThreads, q, k, v, out, n);
}

}  // namespace DEVICE::multiply_add_fuse
