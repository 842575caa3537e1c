/// \file
/// Stage 12: dropout, the residual and the normalisation of the next block in one kernel, a block per row.
#pragma once
#include "10_row_sum.cuh"

namespace DEVICE::gelu_dropout {

// [norm]
/// h = residual + dropout(x), rounded to bfloat16, and norm = h / sqrt(mean of h^2 of its row + epsilon) *
/// weight: one block of whole warps per row, each thread with eight elements, which stay in its registers.
/// `whole` promises that rows have a multiple of 8 columns and all arrays begin at multiples of 16 bytes.
/// Traffic: reads 4 bytes and writes 4 bytes per element; weight is read again by each row, from a cache.
__global__ void __launch_bounds__(1024, 2)
    rms_norm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
             const __nv_bfloat16* __restrict__ weight, __nv_bfloat16* __restrict__ h,
             __nv_bfloat16* __restrict__ norm, unsigned columns, bool whole, float epsilon, Dropout dropout) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const unsigned t = threadIdx.x;
  Vector<__nv_bfloat16> values = load(x + first, t, columns, whole);
  const Vector<__nv_bfloat16> added = load(residual + first, t, columns, whole);
  const unsigned i = static_cast<unsigned>(first) + 8 * t;
  float squares = 0.0f;
  const auto add_dropped = [&](int j, unsigned number) {
    const float dropped = dropout(to_float(values.element[j]), number);
    values.element[j] = from_float<__nv_bfloat16>(to_float(added.element[j]) + dropped);
    squares += to_float(values.element[j]) * to_float(values.element[j]);
  };
  if (whole) {
    const uint4 call = dropout.random(EightHalves::place(i).call);
#pragma unroll
    for (int j = 0; j < 8; ++j) add_dropped(j, number<16>(call, j));
  } else {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const auto at = EightHalves::place(i + j);
      add_dropped(j, number<16>(dropout.random(at.call), at.number));
    }
  }
  store(h + first, t, columns, whole, values);

  const float inverse = rsqrtf(block_sum_by_warps(squares) / static_cast<float>(columns) + epsilon);
  const Vector<__nv_bfloat16> weights = load(weight, t, columns, whole);
#pragma unroll
  for (int j = 0; j < 8; ++j)
    values.element[j] =
        from_float<__nv_bfloat16>(to_float(values.element[j]) * inverse * to_float(weights.element[j]));
  store(norm + first, t, columns, whole, values);
}
// [norm]

// --- On the host ---

struct RmsNorm {
  static constexpr Stage row = {.name = "12_rms_norm",
                                .idea = "residual + dropout(x), and RMSNorm of it",
                                .output = {&kH, &kNorm},
                                .roundings = row_roundings,
                                .exact_roundings = exact_norm_roundings,
                                .needs = "rows of at most 8192 columns",
                                .against = "12_rms_norm"};
  static void run(const Data& d) {
    const __nv_bfloat16 *x = d[kXBFloat16], *residual = d[kResidualBFloat16], *weight = d[kWeightBFloat16];
    __nv_bfloat16 *h = d[kH], *norm = d[kNorm];
    const bool whole = d.shape.dims[1] % 8 == 0 && are_aligned(x, residual, weight, h, norm);
    launch(rms_norm, d.shape.dims[0], ceil_div(d.shape.dims[1], 256) * 32, x, residual, weight, h, norm,
           static_cast<unsigned>(d.shape.dims[1]), whole, kEpsilon, dropout_of<16>(d));
  }
  /// Of rows of whole vectors.
  static Traffic traffic(const Shape& s) {
    const long long once = row_sector_bytes(s, 2, 8), weight = sector_bytes(columns(s), 2);
    return {2 * once + rows(s) * weight, 2 * once, (rows(s) - 1) * weight};
  }
  static bool suits(const Shape& s) { return s.dims[1] <= 8192; }
};

}  // namespace DEVICE::gelu_dropout
