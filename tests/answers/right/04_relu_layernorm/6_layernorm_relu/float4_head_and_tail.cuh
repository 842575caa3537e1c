// float4 where row, weight and bias are aligned alike, single elements before and after
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_then_relu {

__device__ float block_sum(float v) {
  __shared__ float warps[8];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  __syncthreads();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  float sum = 0.0f;
  for (int w = 0; w < 8; ++w) sum += warps[w];
  return sum;
}

/// Calls single(i) for the elements of a row before and after the whole float4s, and four(i) for those from
/// element i.
template <class Single, class Four>
__device__ void for_row(const float* row, int columns, Single single, Four four) {
  const int t = threadIdx.x;
  const int head = min(columns, static_cast<int>(reinterpret_cast<size_t>(row) / 4 * 3 % 4));
  const int body = (columns - head) / 4;
  if (t < head) single(t);
  for (int i = t; i < body; i += 256) four(head + 4 * i);
  for (int c = head + 4 * body + t; c < columns; c += 256) single(c);
}

__device__ inline float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }

__global__ void layernorm_relu(const float* __restrict__ x, const float* __restrict__ weight,
                               const float* __restrict__ bias, float* __restrict__ y, int columns,
                               float epsilon) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float* out = y + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for_row(row, columns, [&](int c) { sum += row[c]; },
          [&](int c) {
            const float4 v = load4(row + c);
            sum += (v.x + v.y) + (v.z + v.w);
          });
  const float mean = block_sum(sum) / columns;
  const auto square = [&](float v) { return (v - mean) * (v - mean); };
  float squares = 0.0f;
  for_row(row, columns, [&](int c) { squares += square(row[c]); },
          [&](int c) {
            const float4 v = load4(row + c);
            squares += (square(v.x) + square(v.y)) + (square(v.z) + square(v.w));
          });
  const float inverse = rsqrtf(block_sum(squares) / columns + epsilon);
  const auto result = [&](float v, float w, float b) { return fmaxf((v - mean) * inverse * w + b, 0.0f); };
  const bool alike = columns % 4 == 0;
  for_row(row, columns, [&](int c) { out[c] = result(row[c], weight[c], bias[c]); },
          [&](int c) {
            const float4 v = load4(row + c);
            if (alike) {
              const float4 w = load4(weight + c), b = load4(bias + c);
              *reinterpret_cast<float4*>(out + c) =
                  make_float4(result(v.x, w.x, b.x), result(v.y, w.y, b.y),
                              result(v.z, w.z, b.z), result(v.w, w.w, b.w));
              return;
            }
            out[c] = result(v.x, weight[c], bias[c]);
            out[c + 1] = result(v.y, weight[c + 1], bias[c + 1]);
            out[c + 2] = result(v.z, weight[c + 2], bias[c + 2]);
            out[c + 3] = result(v.w, weight[c + 3], bias[c + 3]);
          });
}

}  // namespace DEVICE::layernorm_then_relu
