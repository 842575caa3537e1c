// stage 10 of the chapter: float4 in registers where the rows are aligned, and float where not
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::layernorm_one_read {

__device__ inline float relu(float x) { return x < 0.0f ? 0.0f : x; }
__device__ inline float4 relu(float4 x) { return make_float4(relu(x.x), relu(x.y), relu(x.z), relu(x.w)); }
__device__ inline float sum_of(float r) { return r; }
__device__ inline float sum_of(float4 r) { return (r.x + r.y) + (r.z + r.w); }
__device__ inline float square_sum(float r) { return r * r; }
__device__ inline float square_sum(float4 r) { return (r.x * r.x + r.y * r.y) + (r.z * r.z + r.w * r.w); }
__device__ inline float subtract(float r, float mean) { return r - mean; }
__device__ inline float4 subtract(float4 r, float mean) {
  return make_float4(r.x - mean, r.y - mean, r.z - mean, r.w - mean);
}
__device__ inline float multiply(float z, float inverse) { return z * inverse; }
__device__ inline float4 multiply(float4 z, float inverse) {
  return make_float4(z.x * inverse, z.y * inverse, z.z * inverse, z.w * inverse);
}

template <class Vector>
constexpr int kWidth = sizeof(Vector) / sizeof(float);
constexpr int kHeldBytes = 64;  // of a row, in the registers of a thread
template <class Vector>
constexpr int kHeld = kHeldBytes / sizeof(Vector);

template <class Vector>
__device__ void one_read(const float* __restrict__ x, float* __restrict__ y, int columns, float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const Vector* row = reinterpret_cast<const Vector*>(x + first);
  const int vectors = columns / kWidth<Vector>;
  const int t = threadIdx.x, threads = blockDim.x;
  Vector held[kHeld<Vector>];
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = t + j * threads;
    held[j] = i < vectors ? row[i] : Vector{};
  }

  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    held[j] = relu(held[j]);
    sum += sum_of(held[j]);
  }
  const float mean = block_sum_by_warps(sum) / static_cast<float>(columns);
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    held[j] = subtract(held[j], mean);
    squares += t + j * threads < vectors ? square_sum(held[j]) : 0.0f;
  }
  const float inverse = rsqrtf(block_sum_by_warps(squares) / static_cast<float>(columns) + epsilon);

  Vector* out = reinterpret_cast<Vector*>(y + first);
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = t + j * threads;
    if (i < vectors) out[i] = multiply(held[j], inverse);
  }
}

__global__ void normalise(const float* __restrict__ x, float* __restrict__ y, int columns, float epsilon) {
  if (columns % 4 == 0)
    one_read<float4>(x, y, columns, epsilon);
  else
    one_read<float>(x, y, columns, epsilon);
}

}  // namespace DEVICE::layernorm_one_read
