/// \file
/// Not a stage of ours: `cub::DeviceSegmentedReduce`, what an engineer would call instead of stages 1 to 5.
#pragma once
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_segmented_reduce.cuh>

#include "rows.cuh"

namespace DEVICE::relu_layernorm {

struct SquareOf {
  __device__ float operator()(float x) const { return Square::of(x); }
};

struct RowStart {
  int columns;
  __host__ __device__ long long operator()(int row) const { return static_cast<long long>(row) * columns; }
};

// --- On the host ---

struct Cub {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    const auto squared = thrust::make_transform_iterator(a.x, SquareOf{});
    const auto starts =
        thrust::make_transform_iterator(thrust::counting_iterator<int>(0), RowStart{a.columns});
    size_t bytes = static_cast<size_t>(storage_bytes(data.shape));
    check(cub::DeviceSegmentedReduce::Sum(a.storage, bytes, squared, a.squares, a.rows, starts, starts + 1));
  }
  static Traffic traffic(const Shape& s) {
    return {once(s, width(s)), row_values(s), 0, row_values(s) - sector_bytes(rows(s))};
  }
};

}  // namespace DEVICE::relu_layernorm
