/// \file
/// Chapter 06: what its stages share: the arrays, the inputs, the references, how far the results of tensor
/// cores may be off, and the bytes that products in tiles should move.
#pragma once
#include <math.h>
#include <string.h>

#include "chapter.hpp"
#include "half_arrays.hpp"
#include "halves.hpp"
#include "tile_scheduler.cuh"

namespace DEVICE::tensor_cores {

using namespace workbook;

// --- Arrays ---

/// x is m x k, w is n x k as PyTorch's Linear stores it, y is m x n; all are row-major.
inline long long m(const Shape& s) { return s.dims[0]; }
inline long long k(const Shape& s) { return s.dims[1]; }
inline long long n(const Shape& s) { return s.dims[2]; }

inline long long x_elements(const Shape& s) { return m(s) * k(s); }
inline long long w_elements(const Shape& s) { return n(s) * k(s); }
inline long long y_elements(const Shape& s) { return m(s) * n(s); }

// Stage 1 with TF32 reads x and w in float32; everything else is bfloat16, except for the bias, which is
// float32 for our kernels and bfloat16 for cuBLASLt.
constexpr auto kX = input<float>("x", x_elements);
constexpr auto kW = input<float>("w", w_elements);
constexpr auto kBias = input<float>("bias", n);
constexpr auto kXBFloat16 = input<__nv_bfloat16>("x_bfloat16", x_elements);
constexpr auto kWBFloat16 = input<__nv_bfloat16>("w_bfloat16", w_elements);
constexpr auto kBiasBFloat16 = input<__nv_bfloat16>("bias_bfloat16", n);

#ifdef __CUDACC__
// Stage 10 hands partial sums from block to block: the warps of a block that accumulate, and the accumulators
// of one of them. It has two flags and two tickets per warp, and a place for partial sums for each flag.
constexpr int kConsumerWarps = 8, kWarpAccumulators = 128 * 32;

inline long long flag_elements(const Shape&) { return 4 * kConsumerWarps * multiprocessors(); }
inline long long partial_sum_elements(const Shape& s) { return kWarpAccumulators * flag_elements(s) / 2; }

constexpr auto kFlags = input<unsigned>("flags", flag_elements);
constexpr auto kPartialSums = scratch<float>("partial_sums", partial_sum_elements);
#endif

/// A product x * w^T, of an m x k and an n x k matrix in bfloat16.
struct Factors {
  const __nv_bfloat16 *x, *w;
  int m, k, n;
};
inline Factors factors(const Data& data) {
  const Shape& s = data.shape;
  return {data[kXBFloat16], data[kWBFloat16], s.dims[0], s.dims[1], s.dims[2]};
}

// --- Inputs and references ---

inline void round_to(__nv_bfloat16* to, const float* from, long long count) {
  for (long long i = 0; i < count; ++i) to[i] = from_float<__nv_bfloat16>(from[i]);
}

/// Products of two numbers of at most 15 each: 2^16 of them add up to less than 2^24.
inline bool has_exact_inputs(const Shape& s) { return s.dims[1] <= 1 << 16; }

/// Whole numbers, and a bias in eighths: float32 holds every partial sum exactly, and bfloat16 does not.
inline void fill_whole(const Data& host) {
  float* const bias = host[kBias];
  workbook::fill_whole(host[kX], x_elements(host.shape), 15, 51);
  workbook::fill_whole(host[kW], w_elements(host.shape), 15, 52);
  workbook::fill_whole(bias, n(host.shape), 15, 53);
  for (int i = 0; i < n(host.shape); ++i) bias[i] /= 8;
}

/// The elements of the product have a variance of about 1, whatever k is: GELU is curved there.
inline void fill_curved(const Data& host) {
  const float reach = 3.0f / sqrtf(static_cast<float>(k(host.shape)));
  fill_uniform(host[kX], x_elements(host.shape), -1.0f, 1.0f, 51);
  fill_uniform(host[kW], w_elements(host.shape), -reach, reach, 52);
  fill_uniform(host[kBias], n(host.shape), -0.5f, 1.0f, 53);
}

/// The bias is rounded to bfloat16, because cuBLASLt takes it in that type.
inline void fill(const Data& host) {
  host.exact ? fill_whole(host) : fill_curved(host);
  float* const bias = host[kBias];
  const __nv_bfloat16* const rounded = host[kBiasBFloat16];
  round_to(host[kXBFloat16], host[kX], x_elements(host.shape));
  round_to(host[kWBFloat16], host[kW], w_elements(host.shape));
  round_to(host[kBiasBFloat16], bias, n(host.shape));
  for (int i = 0; i < n(host.shape); ++i) bias[i] = to_float(rounded[i]);
#ifdef __CUDACC__
  memset(host[kFlags], 0, sizeof(unsigned) * static_cast<size_t>(flag_elements(host.shape)));
#endif
}

inline void reference_product(const Data& host, double* expected, double* magnitude) {
  const Factors a = factors(host);
  product_of_bfloat16_rows(a.x, a.w, a.m, a.k, a.n, expected, magnitude);
  take_own_magnitude(host, y_elements(host.shape), expected, magnitude);
}

/// The nearest float whose last 13 bits are zeros; ties are rounded away from zero, as __float_to_tf32 does.
inline float to_tf32(float v) {
  unsigned bits;
  memcpy(&bits, &v, sizeof bits);
  bits = (bits + 0x1000) & ~0x1fffu;
  memcpy(&v, &bits, sizeof v);
  return v;
}
/// A copy of `count` elements, rounded to TF32; the caller deletes it.
inline float* rounded_to_tf32(const float* elements, long long count) {
  auto* out = new float[static_cast<size_t>(count)];
  for (long long i = 0; i < count; ++i) out[i] = to_tf32(elements[i]);
  return out;
}
inline void reference_y_tf32(const Data& host, double* expected, double* magnitude) {
  const Factors a = factors(host);
  const float* x = rounded_to_tf32(host[kX], x_elements(host.shape));
  const float* w = rounded_to_tf32(host[kW], w_elements(host.shape));
  product_of_rows(x, w, a.m, a.k, a.n, expected, magnitude);
  take_own_magnitude(host, y_elements(host.shape), expected, magnitude);
  delete[] w;
  delete[] x;
  reference_bias_gelu(host, expected, magnitude);
}

constexpr auto kProduct =
    output<__nv_bfloat16>("product_bfloat16", y_elements, reference_product, {&kXBFloat16, &kWBFloat16});
constexpr auto kY = output<__nv_bfloat16>("y_bfloat16", y_elements, reference_bias_gelu,
                                          {&kXBFloat16, &kWBFloat16, &kBias}, &kProduct);
constexpr auto kYTanh = output<__nv_bfloat16>("y_bfloat16_tanh", y_elements, reference_bias_gelu_tanh,
                                              {&kXBFloat16, &kWBFloat16, &kBias}, &kProduct);
constexpr auto kYTf32 = output<float>("y_tf32", y_elements, reference_y_tf32, {&kX, &kW, &kBias});

constexpr const Array* kArrays[] = {
    &kX,     &kW,          &kBias, &kXBFloat16, &kWBFloat16, &kBiasBFloat16, &kProduct, &kY, &kYTanh, &kYTf32,
#ifdef __CUDACC__
    &kFlags, &kPartialSums
#endif
};

// --- How far results may be off ---

/// Tensor cores truncate when they add, always towards zero, so their errors accumulate (M. Fasi, N. Higham,
/// M. Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores, 2021).
inline int tensor_roundings(const Shape& s) { return s.dims[1] + 16; }

/// On exact inputs, those of bias and GELU alone.
inline int exact_roundings(const Shape&) { return 12; }

constexpr int kBfloat16Rounding = 1 << 16;  // in roundings to float32

/// With a product that is rounded to bfloat16, by 2^-8 at most, before bias and GELU are applied.
inline int tensor_roundings_twice(const Shape& s) { return tensor_roundings(s) + kBfloat16Rounding; }
inline int exact_roundings_twice(const Shape& s) { return exact_roundings(s) + kBfloat16Rounding; }

// --- What several stages share ---

inline double product_flops(const Shape& s) {
  return 2.0 * static_cast<double>(y_elements(s)) * static_cast<double>(k(s));
}

/// Shapes that the TMA can copy, and 16-byte copies without tails.
inline bool of_eights(const Shape& s) { return k(s) % 8 == 0 && n(s) % 8 == 0; }

/// A block for every tile of the result.
inline dim3 by_tiles(const Factors& a, int tile_rows, int tile_columns) {
  return dim3(static_cast<unsigned>(ceil_div(a.n, tile_columns)),
              static_cast<unsigned>(ceil_div(a.m, tile_rows)));
}

/// The row that all stages share: most compute y.
constexpr Stage kOnTensorCores = {.output = {&kY},
                                  .roundings = tensor_roundings,
                                  .exact_roundings = exact_roundings,
                                  .flops = product_flops,
                                  .needs = "a GPU of compute capability 8.0",
                                  .capability = 80};
/// The rows that the stages for an H100 or H200 share, and those that compute the product alone there.
constexpr Stage kOnHopper = kOnTensorCores.with({.needs = "sm_90a: an H100 or H200; k and n multiples of 8",
                                                 .capability = 90,
                                                 .no_other_capability = true});
constexpr Stage kProductOnHopper = kOnHopper.with({.output = {&kProduct}});

// Traffic, exact where rows start at sectors: k and n multiples of 16 in bfloat16, of 8 in float32. Loads of
// the TMA count as well: they read from the L2 cache.

/// A product whose tiles fill the result reads mnk(1/tile_rows + 1/tile_columns) elements. x and w are read
/// once; repeats are assumed to hit a cache.
inline Traffic tiled(const Shape& s, int tile_rows, int tile_columns, int element_bytes) {
  const long long once = element_bytes * (x_elements(s) + w_elements(s));
  const long long read = element_bytes * k(s) *
                         (m(s) * ceil_div(s.dims[2], tile_columns) + n(s) * ceil_div(s.dims[0], tile_rows));
  return {read, element_bytes * y_elements(s), read - once};
}
inline Traffic tiled_bfloat16(const Shape& s, int tile_rows, int tile_columns) {
  return tiled(s, tile_rows, tile_columns, 2);
}

/// Bytes of the bias, where every `rows` rows of the result load each of its sectors `times` times.
inline Traffic bias_traffic(const Shape& s, int rows, int times) {
  const long long bias = 4 * times * n(s) * ceil_div(s.dims[0], rows);
  return {bias, 0, bias - 4 * n(s)};
}

}  // namespace DEVICE::tensor_cores
