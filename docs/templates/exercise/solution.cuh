/// \file
/// Exercise EXERCISE_NUMBER, exercise_name: think: what is to be done, in one line?
///
/// Think: what does the reader find, and when is it good enough, in numbers? Here: out[i] = 2 * x[i] in
/// blocks of 256 threads, enough of them for n elements. Goal: right for every n, without any access outside
/// the arrays; 4 bytes read and 4 bytes written per element.
#pragma once
#include "device.hpp"

namespace DEVICE::exercise_namespace {

/// out[i] = 2 * x[i] for i < n, one thread per element.
__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  // Think: which lines does the reader write, and what stands there instead at first?
  // BEGIN SOLUTION
  if (i < n) out[i] = 2.0f * x[i];
  // SKELETON
  // out[i] = 2.0f * x[i];  // TODO: not in every thread
  // END SOLUTION
}

}  // namespace DEVICE::exercise_namespace
