// the lesson's stage 3, with its vectors of any length
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_share_calls {

__device__ inline uint4 draw(Random random, const volatile unsigned long long* offset, unsigned call) {
  random.offset = *offset;
  return random(call);
}

struct alignas(16) Vector {
  float element[4] = {};
};

__device__ inline Vector load(const float* array, unsigned v, unsigned n) {
  Vector vector;
  if (4 * v + 4 <= n) {
    *reinterpret_cast<uint4*>(vector.element) = reinterpret_cast<const uint4*>(array)[v];
    return vector;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (4 * v + j < n) vector.element[j] = array[4 * v + j];
  return vector;
}

__device__ inline void store(float* array, unsigned v, unsigned n, const Vector& vector) {
  if (4 * v + 4 <= n) {
    reinterpret_cast<uint4*>(array)[v] = *reinterpret_cast<const uint4*>(vector.element);
    return;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (4 * v + j < n) array[4 * v + j] = vector.element[j];
}

__global__ void share_calls(const float* __restrict__ x, float* __restrict__ y, unsigned n, Dropout dropout,
                            const unsigned long long* offset) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  Vector four = load(x, t, n);
  const uint4 call = draw(dropout.random, offset, t);
#pragma unroll
  for (int j = 0; j < 4; ++j) four.element[j] = dropout(gelu(four.element[j]), number<24>(call, j));
  store(y, t, n, four);
}

inline void gelu_dropout(const float* x, float* y, int n, Dropout dropout, const unsigned long long* offset) {
  launch(share_calls, (n - 1) / 1024 + 1, 256, x, y, static_cast<unsigned>(n), dropout, offset);
}

}  // namespace DEVICE::gelu_dropout_share_calls
