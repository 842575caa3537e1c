/// \file
/// For the kernels that normalise rows: mean and deviation of a row.
#pragma once
#include "norms.hpp"
#include "rows.gpu.cuh"

namespace DEVICE::operators {

struct Moments {
  float mean, inverse;
};

/// The mean of array 0 of the row, 0 where none is subtracted, and 1 / sqrt(variance + epsilon).
template <class Norm, int Width, class R>
__device__ Moments moments_of(const R& row, const Place& place, unsigned columns, float epsilon) {
  float mean = 0.0f;
  if (!Norm::kResidual) {
    float sum = 0.0f;
    row.each([&](unsigned, const auto& v) {
#pragma unroll
      for (int j = 0; j < Width; ++j) sum += v[0][j];
    });
    mean = place.sum(sum) / static_cast<float>(columns);
  }
  float squares = 0.0f;
  row.each([&](unsigned, const auto& v) {
#pragma unroll
    for (int j = 0; j < Width; ++j) squares += (v[0][j] - mean) * (v[0][j] - mean);
  });
  return {mean, rsqrtf(place.sum(squares) / static_cast<float>(columns) + epsilon)};
}

}  // namespace DEVICE::operators
