/// \file
/// Stage 10: the row stays in registers, so it is read once. Mean and variance take a pass each over the
/// registers, which costs no memory traffic, so the variance needs no trick. Weight and bias are loaded
/// together with the row, not when they are needed: three loads in flight take no longer than one.
#pragma once
#include "rows.cuh"
#include "sums.hpp"

namespace DEVICE::relu_layernorm {

/// y = the normalised row of relu(x), or with `ReluLast` relu of the normalised row of x; without weight and
/// bias unless `Affine`. One block of whole warps per row, columns <= 16 * blockDim.x. `Vector` is float4,
/// for arrays and rows that begin at multiples of 16 bytes, or float; thread t holds the vectors t, t +
/// blockDim.x and so on. Traffic: reads 4 bytes and writes 4 bytes per element, and reads weight and bias
/// once per row.
template <class Vector, bool Affine, bool ReluLast>
__global__ void __launch_bounds__(1024)
    one_read(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
             float* __restrict__ y, int columns, float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const Vector* row = reinterpret_cast<const Vector*>(x + first);
  const int vectors = columns / kWidth<Vector>;
  const int t = threadIdx.x, threads = blockDim.x;
  const Vector* weights_in = reinterpret_cast<const Vector*>(weight);
  const Vector* biases_in = reinterpret_cast<const Vector*>(bias);
  Vector held[kHeld<Vector>], weights[kHeld<Vector>], biases[kHeld<Vector>];
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = t + j * threads;
    held[j] = i < vectors ? row[i] : Vector{};
  }
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = t + j * threads;
    weights[j] = Affine && i < vectors ? weights_in[i] : Vector{};
    biases[j] = Affine && i < vectors ? biases_in[i] : Vector{};
  }

  // [passes]
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    if (!ReluLast) held[j] = relu(held[j]);
    sum += sum_of(held[j]);
  }
  const float mean = block_sum_by_warps(sum) / static_cast<float>(columns);
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    held[j] = subtract(held[j], mean);
    squares += t + j * threads < vectors ? sum_of<Square>(held[j]) : 0.0f;
  }
  const float inverse = rsqrtf(block_sum_by_warps(squares) / static_cast<float>(columns) + epsilon);
  // [passes]

  Vector* out = reinterpret_cast<Vector*>(y + first);
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = t + j * threads;
    const Vector result =
        Affine ? affine(held[j], inverse, weights[j], biases[j]) : multiply(held[j], inverse);
    if (i < vectors) out[i] = ReluLast ? relu(result) : result;
  }
}

// --- On the host ---

template <bool Affine, bool ReluLast>
void launch_one_read(const Data& data, float* y) {
  const Sizes s = sizes(data.shape);
  launch(aligned_rows(data, y) ? one_read<float4, Affine, ReluLast> : one_read<float, Affine, ReluLast>,
         s.rows, row_threads(s.columns, kHeldBytes / 4, 1024), data[kX], data[kWeight], data[kBias], y,
         s.columns, kEpsilon);
}

struct OneRead {
  static constexpr Stage row =
      kNormalises.with({.name = "10_one_read",
                        .idea = "the row stays in registers; all loads are in flight at once",
                        .needs = kRegisters});
  static void run(const Data& data) { launch_one_read<true, false>(data, data[kY]); }
  static Traffic traffic(const Shape& s) { return one_read_traffic(s); }
  static bool suits(const Shape& s) { return fits_registers(s); }
};

struct OneReadPlain {
  static constexpr Stage row = kNormalises.with({.name = "10_plain",
                                                 .idea = "the same kernel without weight and bias",
                                                 .output = {&kYPlain},
                                                 .needs = kRegisters});
  static void run(const Data& data) { launch_one_read<false, false>(data, data[kYPlain]); }
  static Traffic traffic(const Shape& s) { return {once(s, width(s)), once(s, width(s))}; }
  static bool suits(const Shape& s) { return fits_registers(s); }
};

struct OneReadReluLast {
  static constexpr Stage row =
      kNormalises.with({.name = "10_relu_last",
                        .idea = "the sibling: relu(layernorm(x)), in the same kernel",
                        .output = {&kYLast},
                        .needs = kRegisters});
  static void run(const Data& data) { launch_one_read<true, true>(data, data[kYLast]); }
  static Traffic traffic(const Shape& s) { return one_read_traffic(s); }
  static bool suits(const Shape& s) { return fits_registers(s); }
};

}  // namespace DEVICE::relu_layernorm
