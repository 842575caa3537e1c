/// \file
/// For kernels: 16 bytes at a time from and to the rows of a matrix, four float32 or eight bfloat16 elements.
/// Rows may have any length: where `aligned` is false, or past the end of a row, elements are handled one by
/// one.
#pragma once
#include "halves.hpp"
#include "pack.hpp"

namespace DEVICE {

/// Whether every row of a matrix with n columns starts at a multiple of 16 bytes.
__device__ inline bool starts_vectors(const float* rows, int n) {
  return n % 4 == 0 && reinterpret_cast<size_t>(rows) % 16 == 0;
}
__device__ inline bool starts_vectors(const __nv_bfloat16* rows, int n) {
  return n % 8 == 0 && reinterpret_cast<size_t>(rows) % 16 == 0;
}

// [four]
/// Four elements starting at `from`; the row has `left` elements from there on, and what is past its end
/// becomes 0. `aligned` promises that `from` is a multiple of 16 bytes and `left` one of 4: one load is then
/// enough.
__device__ inline float4 load_four(const float* from, int left, bool aligned) {
  if (aligned) return left > 0 ? *reinterpret_cast<const float4*>(from) : float4{};
  return make_float4(left > 0 ? from[0] : 0.0f, left > 1 ? from[1] : 0.0f, left > 2 ? from[2] : 0.0f,
                     left > 3 ? from[3] : 0.0f);
}

/// Stores the four elements from[0, 4) at `to`, but nothing past the end of the row; `left` and `aligned` as
/// in load_four().
__device__ inline void store_four(float* to, const float* from, int left, bool aligned) {
  if (aligned) {
    if (left > 0) *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (j < left) to[j] = from[j];
  }
}
// [four]

/// to[0, 4) = the four elements at `from`, to[4, 8) = the four that start `apart` elements later. Both places
/// must be multiples of 16 bytes.
__device__ inline void load_two_fours(float (&to)[8], const float* from, int apart) {
  const float4 first = *reinterpret_cast<const float4*>(from);
  const float4 second = *reinterpret_cast<const float4*>(from + apart);
  to[0] = first.x, to[1] = first.y, to[2] = first.z, to[3] = first.w;
  to[4] = second.x, to[5] = second.y, to[6] = second.z, to[7] = second.w;
}

// [eight]
/// The bits of eight elements starting at `from`, as load_four() loads four; with `aligned`, `left` is a
/// multiple of 8.
__device__ inline uint4 load_eight(const __nv_bfloat16* from, int left, bool aligned) {
  Pack<__nv_bfloat16> eight;
  if (aligned) {
    if (left > 0) eight.bits = *reinterpret_cast<const uint4*>(from);
  } else {
#pragma unroll
    for (int j = 0; j < 8; ++j) eight.element[j] = j < left ? from[j] : from_float<__nv_bfloat16>(0.0f);
  }
  return eight.bits;
}

/// Stores eight elements at `to`, but nothing past the end of the row; `left` and `aligned` as in
/// load_eight().
__device__ inline void store_eight(__nv_bfloat16* to, const Pack<__nv_bfloat16>& eight, int left,
                                   bool aligned) {
  if (aligned) {
    if (left > 0) *reinterpret_cast<uint4*>(to) = eight.bits;
  } else {
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (j < left) to[j] = eight.element[j];
  }
}
// [eight]

}  // namespace DEVICE
