// functors for the terms, scale and shift computed per column, and names that the specification uses
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_then_relu {

constexpr unsigned kThreads = 256;

struct Value {
  __device__ float operator()(float x) const { return x; }
};
struct SquaredDistance {
  float mean;
  __device__ float operator()(float x) const {
    const float d = x - mean;
    return d * d;
  }
};

template <class Term>
__device__ float mean_of(const float* row, unsigned elements, Term term) {
  __shared__ float kOutputs[kThreads];
  const unsigned t = threadIdx.x;
  float sum = 0.0f;
  for (unsigned c = t; c < elements; c += kThreads) sum += term(row[c]);
  kOutputs[t] = sum;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half >>= 1) {
    if (t < half) kOutputs[t] += kOutputs[t + half];
    __syncthreads();
  }
  return kOutputs[0] / elements;
}

__global__ void layernorm_relu(const float* __restrict__ x, const float* __restrict__ weight,
                               const float* __restrict__ bias, float* __restrict__ y, unsigned columns,
                               float epsilon) {
  const size_t rows = blockIdx.x;
  const float* row = x + rows * columns;
  const float mean = mean_of(row, columns, Value{});
  const float variance = mean_of(row, columns, SquaredDistance{mean});
  const float scale = rsqrtf(variance + epsilon);
  for (unsigned c = threadIdx.x; c < columns; c += kThreads) {
    const float factor = scale * weight[c];
    y[rows * columns + c] = fmaxf(0.0f, fmaf(row[c] - mean, factor, bias[c]));
  }
}

}  // namespace DEVICE::layernorm_then_relu
