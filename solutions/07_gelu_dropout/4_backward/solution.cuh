/// \file
/// Exercise 07.4, backward: the backward pass, without a saved mask.
///
/// `forward` is given: it is the kernel that has computed y. Yours gets the same `dropout`, with the same
/// seed and offset, and must drop the same elements. A Philox call serves eight elements, with numbers of 16
/// bits: `number<16>(call, 0)` to `number<16>(call, 7)`. Thread t makes call t, and has two float4 that are
/// 128 elements apart:
///
///     element  0-3  4-7  8-11  ...  124-127  128-131  132-135  ...  252-255  256-259  ...
///     call     0    1    2     ...  31       0        1        ...  31       32       ...
///     number   0-3  0-3  0-3   ...  0-3      4-7      4-7      ...  4-7      0-3      ...
///
/// So element i gets number i / 128 % 2 * 4 + i % 4 of call i / 256 * 32 + i / 4 % 32, also at the end, where
/// n is not a multiple of 256.
///
/// dx[i] = dy[i] * scale * g(x[i]) where element i stays, and 0 where the forward pass has dropped it. g is
/// the derivative of GELU, `gelu_slope` of common/kernels/gelu.hpp. To begin with, the kernel drops and
/// scales nothing.
///
/// Goal: one launch, with the work spread over the grid; 8 bytes read and 4 bytes written per element, as
/// float4: for 128 elements two load requests and one store request. x, dy and dx begin at multiples of 16
/// bytes.
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_backward {

/// y = dropout(gelu(x)), two float4 and one Philox call per thread. Given.
__global__ void forward(const float* __restrict__ x, float* __restrict__ y, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4 call = dropout.random(t);
#pragma unroll
  for (int v = 0; v < 2; ++v) {
    const unsigned first = t / 32 * 256 + 128 * v + t % 32 * 4;
    if (first + 4 <= n) {
      float4 four = *reinterpret_cast<const float4*>(x + first);
      four.x = dropout(gelu(four.x), number<16>(call, 4 * v));
      four.y = dropout(gelu(four.y), number<16>(call, 4 * v + 1));
      four.z = dropout(gelu(four.z), number<16>(call, 4 * v + 2));
      four.w = dropout(gelu(four.w), number<16>(call, 4 * v + 3));
      *reinterpret_cast<float4*>(y + first) = four;
    } else {
      for (unsigned i = first; i < n; ++i) y[i] = dropout(gelu(x[i]), number<16>(call, 4 * v + i % 4));
    }
  }
}

// BEGIN SOLUTION
/// dx from x and dy, two float4 of each and one Philox call per thread, as forward().
__global__ void backward(const float* __restrict__ x, const float* __restrict__ dy, float* __restrict__ dx,
                         unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4 call = dropout.random(t);
#pragma unroll
  for (int v = 0; v < 2; ++v) {
    const unsigned first = t / 32 * 256 + 128 * v + t % 32 * 4;
    if (first + 4 <= n) {
      const float4 values = *reinterpret_cast<const float4*>(x + first);
      float4 four = *reinterpret_cast<const float4*>(dy + first);
      four.x = dropout(four.x * gelu_slope(values.x), number<16>(call, 4 * v));
      four.y = dropout(four.y * gelu_slope(values.y), number<16>(call, 4 * v + 1));
      four.z = dropout(four.z * gelu_slope(values.z), number<16>(call, 4 * v + 2));
      four.w = dropout(four.w * gelu_slope(values.w), number<16>(call, 4 * v + 3));
      *reinterpret_cast<float4*>(dx + first) = four;
    } else {
      for (unsigned i = first; i < n; ++i)
        dx[i] = dropout(dy[i] * gelu_slope(x[i]), number<16>(call, 4 * v + i % 4));
    }
  }
}

/// dx for n elements; all pointers are device memory.
inline void gelu_dropout_backward(const float* x, const float* dy, float* dx, int n, Dropout dropout) {
  constexpr int kThreads = 256;
  launch(backward, (n - 1) / (8 * kThreads) + 1, kThreads, x, dy, dx, static_cast<unsigned>(n), dropout);
}
// SKELETON
// /// dx[i] = dy[i] * g(x[i]), one thread per element. TODO: the dropout, and float4.
// __global__ void backward(const float* __restrict__ x, const float* __restrict__ dy, float* __restrict__ dx,
//                          unsigned n, Dropout dropout) {
//   const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//   if (i < n) dx[i] = dy[i] * gelu_slope(x[i]);
// }
//
// /// dx for n elements; all pointers are device memory.
// inline void gelu_dropout_backward(const float* x, const float* dy, float* dx, int n, Dropout dropout) {
//   constexpr int kThreads = 256;
//   launch(backward, (n - 1) / kThreads + 1, kThreads, x, dy, dx, static_cast<unsigned>(n), dropout);
// }
// END SOLUTION

}  // namespace DEVICE::gelu_dropout_backward
