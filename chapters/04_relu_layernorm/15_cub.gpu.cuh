/// \file
/// Not a stage of ours: `cub::DeviceSegmentedReduce`, what an engineer would call instead of stages 1 to 5.
#pragma once
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_segmented_reduce.cuh>

#include "5_vectorised.cuh"

namespace DEVICE::relu_layernorm {

struct SquareOf {
  __device__ float operator()(float x) const { return Square::of(x); }
};

struct RowStart {
  int columns;
  __host__ __device__ long long operator()(int row) const { return static_cast<long long>(row) * columns; }
};

/// squares[r] = the sum of the squares of row r. `storage` has to hold `storage_bytes`.
inline void cub_segmented_reduce(const float* x, float* squares, void* storage, size_t storage_bytes,
                                 int rows, int columns) {
  const auto squared = thrust::make_transform_iterator(x, SquareOf{});
  const auto starts = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), RowStart{columns});
  check(cub::DeviceSegmentedReduce::Sum(storage, storage_bytes, squared, squares, rows, starts, starts + 1));
}

}  // namespace DEVICE::relu_layernorm
