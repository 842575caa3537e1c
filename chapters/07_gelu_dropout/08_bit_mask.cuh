/// \file
/// Stage 8: the mask needs one bit per element. The lanes of a warp vote, and each vote is a word of 32 bits.
#pragma once
#include "04_sixteen_bits.cuh"

namespace DEVICE::gelu_dropout {

// [votes]
/// y[i] = dropout(gelu(x[i])), as stage 4, and in `mask` a bit for each element, 1 where it stays: bit L of
/// word 4 v + j of a chunk of 256 elements is of element j in vector v of lane L. The mask begins at a
/// multiple of 16 bytes.
/// Traffic: reads 4 bytes and writes 4 1/8 bytes per element.
__global__ void forward_saving_bits(const float* __restrict__ x, float* __restrict__ y,
                                    unsigned* __restrict__ mask, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, chunk = t / 32, lane = t % 32;
  if (kChunk * chunk >= n) return;  // the whole warp
  const unsigned first = EightNumbers::first_vector(t);
  const bool aligned = are_aligned(x, y);
  Vector<float> values[2] = {load(x, first, n, aligned), load(x, first + 32, n, aligned)};
  const uint4 call = dropout.random(t);
  unsigned word = 0;
#pragma unroll
  for (int v = 0; v < 2; ++v) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const unsigned drawn = number<16>(call, 4 * v + j);
      const bool kept = !dropout.drops(drawn) && 4 * (first + 32 * v) + j < n;
      const unsigned vote = __ballot_sync(0xffffffffu, kept);
      if (lane == 4u * v + j) word = vote;
      values[v].element[j] = dropout(gelu(values[v].element[j]), drawn);
    }
    store(y, first + 32 * v, n, aligned, values[v]);
  }
  if (lane < 8) mask[8 * chunk + lane] = word;
}
// [votes]

// [bits]
/// dx[i] = dy[i] * scale * the derivative of gelu at x[i] where the mask's bit is 1, else 0, four elements
/// per thread, which loads the four words that hold their bits. Traffic: reads 8 1/8 bytes and writes 4 bytes
/// per element.
__global__ void backward_from_bits(const float* __restrict__ x, const float* __restrict__ dy,
                                   const unsigned* __restrict__ mask, float* __restrict__ dx, unsigned n,
                                   float scale) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * t >= n) return;
  const bool aligned = are_aligned(x, dy, dx);
  const Vector<float> values = load(x, t, n, aligned), dys = load(dy, t, n, aligned);
  const uint4 four_words = reinterpret_cast<const uint4*>(mask)[t / 32];
  const unsigned words[4] = {four_words.x, four_words.y, four_words.z, four_words.w};
  Vector<float> result;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float factor = (words[j] >> (t % 32)) & 1 ? scale : 0.0f;
    result.element[j] = dys.element[j] * factor * gelu_slope(values.element[j]);
  }
  store(dx, t, n, aligned, result);
}
// [bits]

// --- On the host ---

struct SaveBits {
  static constexpr Stage row = kForward.with({.name = "08_save_bits",
                                              .idea = "forward, and the mask saved as bits: the lanes vote",
                                              .output = {&kY, &kMaskBits}});
  static void run(const Data& d) {
    const int n = element_count(d);
    launch(forward_saving_bits, ceil_div(n, 8 * kThreads), kThreads, d[kX], d[kY], d[kMaskBits],
           static_cast<unsigned>(n), dropout_of<16>(d));
  }
  static Traffic traffic(const Shape& s) {
    return {vector_bytes(s, 4), vector_bytes(s, 4) + 4 * mask_words(s)};
  }
};

/// A warp of the backward pass has 128 elements, and loads a sector of which it uses half.
struct FromBits {
  static constexpr Stage row = kBackward.with(
      {.name = "08_bit_mask", .idea = "backward, with the mask's bits", .output = {&kDxByBits}});
  static void run(const Data& d) {
    const int n = element_count(d);
    launch(backward_from_bits, ceil_div(n, 4 * kThreads), kThreads, d[kX], d[kDy], d[kSavedBits],
           d[kDxByBits], static_cast<unsigned>(n), dropout_of<16>(d).scale);
  }
  static Traffic traffic(const Shape& s) {
    const long long warps = (elements(s) + 127) / 128;
    return {2 * vector_bytes(s, 4) + 32 * warps, vector_bytes(s, 4), 32 * warps - 4 * mask_words(s)};
  }
};

}  // namespace DEVICE::gelu_dropout
