/// \file
/// Not a stage of ours: `cub::DeviceSegmentedReduce`, what an engineer would call instead of stages 1 to 5.
#pragma once
#include "rows.cuh"
#if defined(__CUDACC__) && __has_include(<cub/device/device_segmented_reduce.cuh>)
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_segmented_reduce.cuh>
#define WITH_CUB
#endif

namespace DEVICE::relu_layernorm {

#ifdef WITH_CUB
struct SquareOf {
  __device__ float operator()(float x) const { return Square::of(x); }
};

struct RowStart {
  int columns;
  __host__ __device__ long long operator()(int row) const { return static_cast<long long>(row) * columns; }
};
#endif

// --- On the host ---

struct Cub {
  static constexpr Stage row =
      kReducesRows.with({.name = "15_cub",
                         .idea = "library: cub::DeviceSegmentedReduce, sums of squares",
                         .kernels = kAnyNumber,
                         .needs = "a GPU and cub::DeviceSegmentedReduce"});
#ifdef WITH_CUB
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    const auto squared = thrust::make_transform_iterator(data[kX], SquareOf{});
    const auto starts =
        thrust::make_transform_iterator(thrust::counting_iterator<int>(0), RowStart{s.columns});
    size_t bytes = static_cast<size_t>(storage_bytes(data.shape));
    check(cub::DeviceSegmentedReduce::Sum(data[kStorage], bytes, squared, data[kSquares], s.rows, starts,
                                          starts + 1));
  }
  static Traffic traffic(const Shape& s) {
    return {once(s, width(s)), row_values(s), 0, row_values(s) - sector_bytes(rows(s))};
  }
#endif
};

}  // namespace DEVICE::relu_layernorm
