// blocks of 32 x 8 threads, functors as template arguments, GELU by normcdff
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

struct ByNormalDistribution {
  __device__ float operator()(float v) const { return v * normcdff(v); }
};

struct FirstNumber {
  __device__ unsigned operator()(const Random& random, unsigned i) const {
    const uint4 words = random(i);
    return words.x / 256;
  }
};

template <typename Activation, typename Draw>
__global__ void apply(const float* x, float* y, unsigned n, Dropout dropout, Activation f, Draw draw) {
  const unsigned i = blockIdx.x * (blockDim.x * blockDim.y) + threadIdx.y * blockDim.x + threadIdx.x;
  if (i < n) y[i] = dropout(f(x[i]), draw(dropout.random, i));
}

inline void gelu_dropout(const float* x, signed char*, float*, float* y, unsigned n, const Dropout& dropout) {
  launch(apply<ByNormalDistribution, FirstNumber>, dim3((n + 255) / 256), dim3(32, 8), x, y, n, dropout,
         ByNormalDistribution{}, FirstNumber{});
}

}  // namespace DEVICE::gelu_dropout_fuse
