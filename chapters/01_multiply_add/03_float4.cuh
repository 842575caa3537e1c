/// \file
/// Stage 3: 16 bytes per load. The bytes stay the same; a quarter of the instructions load and store them.
#pragma once
#include "problem.cuh"

namespace DEVICE::multiply_add {

// [split]
/// How n elements fall into float4 vectors: `head` single elements, then 4 * `vectors`, then what is left.
struct Split {
  unsigned head;
  unsigned vectors;
};

/// A float4 must start at a multiple of 16 bytes, so the vectors start at the first element where all four
/// arrays do. Arrays that never do so at the same element have no vectors at all: everything is head.
__device__ inline Split split(const float* a, const float* b, const float* c, const float* d, unsigned n) {
  const auto phase = [](const float* p) {
    return static_cast<unsigned>(reinterpret_cast<size_t>(p) / 4 % 4);
  };
  const bool together = phase(a) == phase(b) && phase(a) == phase(c) && phase(a) == phase(d);
  const unsigned to_boundary = (4 - phase(a)) % 4;
  const unsigned head = together && to_boundary < n ? to_boundary : n;
  return {head, (n - head) / 4};
}
// [split]

// [helpers]
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
// [helpers]

// [kernel]
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
// [kernel]

// --- On the host ---

/// Two such blocks fill 1536 of a multiprocessor's thread slots: on an H200 the fastest of 128 to 1024 by a
/// little.
constexpr int kFloat4Threads = 768;

struct Float4 {
  static constexpr Stage row = kElementwise.with(
      {.name = "03_float4", .idea = "16 bytes per load: the same bytes in a quarter of the requests"});
  static void run(const Data& data) {
    const int n = length(data.shape);
    launch(vectorised, ceil_div(n, 4 * kFloat4Threads), kFloat4Threads, data[kQ], data[kK], data[kV],
           data[kOut], n);
  }
  static Traffic traffic(const Shape& s) { return {3 * vector_bytes(s), vector_bytes(s)}; }
};

}  // namespace DEVICE::multiply_add
