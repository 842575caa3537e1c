/// \file
/// Stage 7: the backward pass needs the mask of the forward pass. Here the forward pass saves it, a byte per
/// element, and the backward pass loads it.
#pragma once
#include "04_sixteen_bits.cuh"

namespace DEVICE::gelu_dropout {

/// Vector v, of four, of a mask of n bytes.
__device__ inline char4 load_bytes(const signed char* mask, unsigned v, unsigned n) {
  if (reinterpret_cast<size_t>(mask) % 4 == 0 && 4 * v + 4 <= n)
    return reinterpret_cast<const char4*>(mask)[v];
  char4 four = {0, 0, 0, 0};
  if (4 * v < n) four.x = mask[4 * v];
  if (4 * v + 1 < n) four.y = mask[4 * v + 1];
  if (4 * v + 2 < n) four.z = mask[4 * v + 2];
  if (4 * v + 3 < n) four.w = mask[4 * v + 3];
  return four;
}
__device__ inline void store_bytes(signed char* mask, unsigned v, unsigned n, char4 four) {
  if (reinterpret_cast<size_t>(mask) % 4 == 0 && 4 * v + 4 <= n) {
    reinterpret_cast<char4*>(mask)[v] = four;
    return;
  }
  if (4 * v < n) mask[4 * v] = four.x;
  if (4 * v + 1 < n) mask[4 * v + 1] = four.y;
  if (4 * v + 2 < n) mask[4 * v + 2] = four.z;
  if (4 * v + 3 < n) mask[4 * v + 3] = four.w;
}

// [save]
/// y[i] = dropout(gelu(x[i])), as stage 4, and mask[i] = 1 where element i stays, else 0.
/// Traffic: reads 4 bytes and writes 5 bytes per element.
__global__ void forward_saving_bytes(const float* __restrict__ x, float* __restrict__ y,
                                     signed char* __restrict__ mask, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = EightNumbers::first_vector(t);
  const bool aligned = are_aligned(x, y);
  Vector<float> values[2] = {load(x, first, n, aligned), load(x, first + 32, n, aligned)};
  const uint4 call = dropout.random(t);
#pragma unroll
  for (int v = 0; v < 2; ++v) {
    signed char kept[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const unsigned drawn = number<16>(call, 4 * v + j);
      kept[j] = !dropout.drops(drawn);
      values[v].element[j] = dropout(gelu(values[v].element[j]), drawn);
    }
    store(y, first + 32 * v, n, aligned, values[v]);
    store_bytes(mask, first + 32 * v, n, make_char4(kept[0], kept[1], kept[2], kept[3]));
  }
}
// [save]

// [load]
/// dx[i] = dy[i] * scale * the derivative of gelu at x[i] where the mask is 1, else 0, four elements per
/// thread. Traffic: reads 9 bytes and writes 4 bytes per element.
__global__ void backward_from_bytes(const float* __restrict__ x, const float* __restrict__ dy,
                                    const signed char* __restrict__ mask, float* __restrict__ dx, unsigned n,
                                    float scale) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const bool aligned = are_aligned(x, dy, dx);
  const Vector<float> values = load(x, t, n, aligned), dys = load(dy, t, n, aligned);
  const char4 mask_of_four = load_bytes(mask, t, n);
  const signed char kept[4] = {mask_of_four.x, mask_of_four.y, mask_of_four.z, mask_of_four.w};
  Vector<float> result;
#pragma unroll
  for (int j = 0; j < 4; ++j)
    result.element[j] = dys.element[j] * (kept[j] ? scale : 0.0f) * gelu_slope(values.element[j]);
  store(dx, t, n, aligned, result);
}
// [load]

// --- On the host ---

/// Bytes of a mask of one byte per element, in vectors of four.
inline long long byte_mask_bytes(const Shape& s) {
  const long long n = elements(s);
  return sector_bytes(n - n % 4, 1) + 32 * (n % 4);
}

struct SaveBytes {
  static constexpr Stage row = kForward.with({.name = "07_save_bytes",
                                              .idea = "forward, and the mask saved as bytes",
                                              .output = {&kY, &kMaskBytes}});
  static void run(const Data& d) {
    const int n = element_count(d);
    launch(forward_saving_bytes, ceil_div(n, 8 * kThreads), kThreads, d[kX], d[kY], d[kMaskBytes],
           static_cast<unsigned>(n), dropout_of<16>(d));
  }
  static Traffic traffic(const Shape& s) {
    return {vector_bytes(s, 4), vector_bytes(s, 4) + byte_mask_bytes(s)};
  }
};

struct FromBytes {
  static constexpr Stage row = kBackward.with(
      {.name = "07_byte_mask", .idea = "backward, with the mask's bytes", .output = {&kDxByBytes}});
  static void run(const Data& d) {
    const int n = element_count(d);
    launch(backward_from_bytes, ceil_div(n, 4 * kThreads), kThreads, d[kX], d[kDy], d[kSavedBytes],
           d[kDxByBytes], static_cast<unsigned>(n), dropout_of<16>(d).scale);
  }
  static Traffic traffic(const Shape& s) {
    return {2 * vector_bytes(s, 4) + byte_mask_bytes(s), vector_bytes(s, 4)};
  }
};

}  // namespace DEVICE::gelu_dropout
