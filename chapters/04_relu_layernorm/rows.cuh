/// \file
/// For the kernels of this chapter: rows in vectors of one or four elements, and the part of a row that a
/// thread holds in registers. Below, on the host: when rows can be loaded in vectors, by how many threads.
#pragma once
#include "pack.hpp"
#include "problem.cuh"

namespace DEVICE::relu_layernorm {

/// Elements in a vector: `Vector` is float4 or float.
template <class Vector>
constexpr int kWidth = sizeof(Vector) / sizeof(float);

struct Square {
  static __device__ float of(float x) { return x * x; }
};
struct Magnitude {
  static __device__ float of(float x) { return fabsf(x); }
};

template <class Term>
__device__ float sum_of(float x) {
  return Term::of(x);
}
template <class Term>
__device__ float sum_of(float4 x) {
  return (Term::of(x.x) + Term::of(x.y)) + (Term::of(x.z) + Term::of(x.w));
}

/// max(x, 0); a NaN stays one.
__device__ inline float relu(float x) { return x < 0.0f ? 0.0f : x; }

/// The operations on one vector: `Vector` is float4 or float.
__device__ inline float4 relu(float4 x) { return make_float4(relu(x.x), relu(x.y), relu(x.z), relu(x.w)); }
__device__ inline float sum_of(float r) { return r; }
__device__ inline float sum_of(float4 r) { return (r.x + r.y) + (r.z + r.w); }
__device__ inline float subtract(float r, float mean) { return r - mean; }
__device__ inline float4 subtract(float4 r, float mean) {
  return make_float4(r.x - mean, r.y - mean, r.z - mean, r.w - mean);
}
__device__ inline float multiply(float z, float inverse) { return z * inverse; }
__device__ inline float4 multiply(float4 z, float inverse) {
  return make_float4(z.x * inverse, z.y * inverse, z.z * inverse, z.w * inverse);
}
__device__ inline float affine(float z, float inverse, float weight, float bias) {
  return z * inverse * weight + bias;
}
__device__ inline float4 affine(float4 z, float inverse, float4 weight, float4 bias) {
  return make_float4(affine(z.x, inverse, weight.x, bias.x), affine(z.y, inverse, weight.y, bias.y),
                     affine(z.z, inverse, weight.z, bias.z), affine(z.w, inverse, weight.w, bias.w));
}

constexpr int kHeldBytes = 64;  // of a row, in the registers of a thread
template <class Vector>
constexpr int kHeld = kHeldBytes / sizeof(Vector);

// --- On the host ---

/// Whether float4 can be used for x, weight, bias and y: all of them and all rows begin at multiples of 16
/// bytes.
inline bool aligned_rows(const Data& data, const float* y) {
  const Sizes s = sizes(data.shape);
  return s.columns % 4 == 0 && are_aligned(data[kX], data[kWeight], data[kBias], y);
}

/// Threads in whole warps, at most `most`, for a row of which each thread has `each` elements.
inline int row_threads(int columns, int each, int most) {
  const int threads = ceil_div(ceil_div(columns, each), 32) * 32;
  return threads < most ? threads : most;
}

/// Whether the registers of one block can hold a row.
inline bool fits_registers(const Shape& s) { return s.dims[1] <= 1024 * kHeldBytes / 4; }

/// x once, y once, and weight and bias once per row.
inline Traffic one_read_traffic(const Shape& s) {
  return with_parameters(s, once(s, width(s)), once(s, width(s)), rows(s));
}

}  // namespace DEVICE::relu_layernorm
