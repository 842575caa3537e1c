/// \file
/// Stage 10: the row stays on the multiprocessor, so it is read once: 16 elements a thread in registers, and
/// what is too much for them in shared memory. Mean and variance take a pass each over what is held, which
/// costs no memory traffic, so the variance needs no trick.
#pragma once
#include "5_vectorised.cuh"
#include "7_unfused.cuh"

namespace DEVICE::relu_layernorm {

/// What is computed of one vector: `Vector` is float4 or float.
__device__ inline float4 relu(float4 x) { return make_float4(relu(x.x), relu(x.y), relu(x.z), relu(x.w)); }
__device__ inline float sum_of(float r) { return r; }
__device__ inline float sum_of(float4 r) { return (r.x + r.y) + (r.z + r.w); }
__device__ inline float less(float r, float mean) { return r - mean; }
__device__ inline float4 less(float4 r, float mean) {
  return make_float4(r.x - mean, r.y - mean, r.z - mean, r.w - mean);
}
__device__ inline float affine(float z, float inverse, float weight, float bias) {
  return z * inverse * weight + bias;
}
__device__ inline float4 affine(float4 z, float inverse, float4 weight, float4 bias) {
  return make_float4(affine(z.x, inverse, weight.x, bias.x), affine(z.y, inverse, weight.y, bias.y),
                     affine(z.z, inverse, weight.z, bias.z), affine(z.w, inverse, weight.w, bias.w));
}

/// Vectors that a thread holds in registers: 64 bytes.
template <class Vector>
constexpr int kHeld = 64 / sizeof(Vector);

/// y = the normalised row of relu(x), or with `ReluLast` relu of the normalised row of x; one block of whole
/// warps per row. `Vector` is float4, for arrays and rows that begin at multiples of 16 bytes, or float.
/// Thread t has the vectors t, t + blockDim.x and so on of its row: the first kHeld in registers, the others
/// in dynamic shared memory, where no other thread reads them. Traffic: reads 4 bytes and writes 4 bytes per
/// element, and asks for weight and bias once a row.
template <class Vector, bool ReluLast>
__global__ void __launch_bounds__(1024)
    one_read(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
             float* __restrict__ y, int columns, float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const Vector* row = reinterpret_cast<const Vector*>(x + first);
  const int vectors = columns / static_cast<int>(sizeof(Vector) / sizeof(float)), threads = blockDim.x;
  const int beyond = kHeld<Vector> * threads + threadIdx.x;
  Vector* waiting = dynamic_shared<Vector>() - kHeld<Vector> * threads;
  for (int i = beyond; i < vectors; i += threads)
    __pipeline_memcpy_async(&waiting[i], &row[i], sizeof(Vector));
  __pipeline_commit();

  const auto input = [](Vector v) { return ReluLast ? v : relu(v); };
  Vector held[kHeld<Vector>];
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = threadIdx.x + j * threads;
    held[j] = i < vectors ? row[i] : Vector{};
  }
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) sum += sum_of(held[j] = input(held[j]));
  __pipeline_wait_prior(0);
  for (int i = beyond; i < vectors; i += threads) sum += sum_of(input(waiting[i]));
  const float mean = block_sum_by_warps(sum) / static_cast<float>(columns);

  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    held[j] = less(held[j], mean);
    squares += static_cast<int>(threadIdx.x) + j * threads < vectors ? squares_of(held[j]) : 0.0f;
  }
  for (int i = beyond; i < vectors; i += threads) squares += squares_of(less(input(waiting[i]), mean));
  const float inverse = rsqrtf(block_sum_by_warps(squares) / static_cast<float>(columns) + epsilon);

  const Vector* weights = reinterpret_cast<const Vector*>(weight);
  const Vector* biases = reinterpret_cast<const Vector*>(bias);
  Vector* out = reinterpret_cast<Vector*>(y + first);
  const auto output = [&](Vector centred, int i) {
    const Vector normalised = affine(centred, inverse, weights[i], biases[i]);
    return ReluLast ? relu(normalised) : normalised;
  };
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = threadIdx.x + j * threads;
    if (i < vectors) out[i] = output(held[j], i);
  }
  for (int i = beyond; i < vectors; i += threads) out[i] = output(less(input(waiting[i]), mean), i);
}

}  // namespace DEVICE::relu_layernorm
