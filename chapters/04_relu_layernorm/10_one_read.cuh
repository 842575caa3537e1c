/// \file
/// Stage 10: the row stays in registers, so it is read once. Mean and variance take a pass each over what is
/// held, which costs no memory traffic, so the variance needs no trick. Weight and bias are asked for
/// together with the row, not when they are needed: three loads on their way take no longer than one.
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
__device__ inline float times(float z, float inverse) { return z * inverse; }
__device__ inline float4 times(float4 z, float inverse) {
  return make_float4(z.x * inverse, z.y * inverse, z.z * inverse, z.w * inverse);
}

constexpr int kHeldBytes = 64;  // of a row, in the registers of a thread
template <class Vector>
constexpr int kHeld = kHeldBytes / sizeof(Vector);

/// y = the normalised row of relu(x), or with `ReluLast` relu of the normalised row of x; without weight and
/// bias unless `Affine`. One block of whole warps per row, columns <= 16 * blockDim.x. `Vector` is float4,
/// for arrays and rows that begin at multiples of 16 bytes, or float; thread t holds the vectors t, t +
/// blockDim.x and so on. Traffic: reads 4 bytes and writes 4 bytes per element, and asks for weight and bias
/// once a row.
template <class Vector, bool Affine, bool ReluLast>
__global__ void __launch_bounds__(1024)
    one_read(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
             float* __restrict__ y, int columns, float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const Vector* row = reinterpret_cast<const Vector*>(x + first);
  const int vectors = columns / static_cast<int>(sizeof(Vector) / sizeof(float));
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
    held[j] = less(held[j], mean);
    squares += t + j * threads < vectors ? sum_of<Square>(held[j]) : 0.0f;
  }
  const float inverse = rsqrtf(block_sum_by_warps(squares) / static_cast<float>(columns) + epsilon);

  Vector* out = reinterpret_cast<Vector*>(y + first);
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = t + j * threads;
    const Vector result = Affine ? affine(held[j], inverse, weights[j], biases[j]) : times(held[j], inverse);
    if (i < vectors) out[i] = ReluLast ? relu(result) : result;
  }
}

}  // namespace DEVICE::relu_layernorm
