/// \file
/// Stage 11: a bias before and a residual after, all in one kernel.
#pragma once
#include "problem.cuh"

namespace DEVICE::gelu_dropout {

// [block]
/// y = residual + dropout(gelu(x + bias)) in bfloat16, eight elements of a row per thread; `whole` promises
/// that all rows of x, residual and y and also bias begin at multiples of 16 bytes.
/// Traffic: reads 4 bytes and writes 2 bytes per element; bias is read again by each row, from a cache.
__global__ void bias_residual(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ bias,
                              const __nv_bfloat16* __restrict__ residual, __nv_bfloat16* __restrict__ y,
                              unsigned n, unsigned columns, bool whole, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  Vector<__nv_bfloat16> values = load(x, t, n, whole), biases;
  const Vector<__nv_bfloat16> added = load(residual, t, n, whole);
  if (whole && 8 * t < n) {
    biases = load(bias, t % (columns / 8), columns, true);
  } else {
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (8 * t + j < n) biases.element[j] = bias[(8 * t + j) % columns];
  }
  const uint4 call = dropout.random(t);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const float activated = gelu(to_float(values.element[j]) + to_float(biases.element[j]));
    values.element[j] =
        from_float<__nv_bfloat16>(to_float(added.element[j]) + dropout(activated, number<16>(call, j)));
  }
  store(y, t, n, whole, values);
}
// [block]

// --- On the host ---

/// Bytes of bias that the warps load: each has 256 elements; where a row ends among them, bias starts again.
inline long long bias_bytes(const Shape& s) {
  long long sectors = 0;
  for (long long first = 0; first < elements(s); first += 256) {
    const long long last = (first + 256 < elements(s) ? first + 256 : elements(s)) - 1;
    const long long from = first % columns(s), to = last % columns(s), all = ceil_div(s.dims[1], 16);
    const bool wraps = first / columns(s) != last / columns(s);
    const long long distinct = wraps ? to / 16 + 1 + all - from / 16 : to / 16 - from / 16 + 1;
    sectors += distinct < all ? distinct : all;
  }
  return 32 * sectors;
}

struct Residual {
  static constexpr Stage row = {.name = "11_residual",
                                .idea = "residual + dropout(gelu(x + bias)), in bfloat16",
                                .output = {&kBlock},
                                .roundings = gelu_roundings,
                                .against = "11_residual"};
  static void run(const Data& d) {
    const int n = element_count(d);
    const __nv_bfloat16 *x = d[kXBFloat16], *bias = d[kBiasBFloat16], *residual = d[kResidualBFloat16];
    __nv_bfloat16* y = d[kBlock];
    const bool whole = d.shape.dims[1] % 8 == 0 && are_aligned(x, bias, residual, y);
    launch(bias_residual, ceil_div(n, 8 * kThreads), kThreads, x, bias, residual, y, static_cast<unsigned>(n),
           static_cast<unsigned>(d.shape.dims[1]), whole, dropout_of<16>(d));
  }
  /// Of rows of whole vectors.
  static Traffic traffic(const Shape& s) {
    const long long biases = bias_bytes(s);
    return {2 * vector_bytes(s, 2) + biases, vector_bytes(s, 2), biases - sector_bytes(columns(s), 2)};
  }
};

}  // namespace DEVICE::gelu_dropout
