// a template of a helper, and names that the specification has
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_coalesce {

template <int Count>
__device__ void run(const float* fill, float* outputs, unsigned left, unsigned blocks) {
  constexpr unsigned kShapes[] = {0, 1, 2, 3};
  for (int k = 0; k < Count; ++k) {
    const unsigned elements = kShapes[k] * blocks + threadIdx.x;
    if (elements < left) outputs[elements] = 2.0f * fill[elements];
  }
}

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned begin = blockIdx.x * blockDim.x * 4;
  run<4>(x + begin, out + begin, n - begin, blockDim.x);
}

}  // namespace DEVICE::first_kernel_coalesce
