/// \file
/// Exercise 05.6, whole_tiles: what it asks for, and how the file that is judged is called.
#include "../products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

constexpr auto kProduct = output<float>("product", m_times_n, reference_product, {&kX, &kW});
constexpr const Array* kArrays[] = {&kProduct, &kX, &kW};

const Limit kLimits[] = {
    {Cost::kReadBytes, tiles_read,
     "each thread loads one element of x and one of w per step: do all of a block's loads together bring "
     "each "
     "element of its tiles once?"},
    {Cost::kWrittenBytes, result_bytes, "is each element of the result stored once, when its sum is done?"},
};

constexpr Shape kShapes[] = {{{32, 32, 32}}, {{32, 64, 32}},  {{32, 32, 96}},
                             {{64, 32, 32}}, {{96, 128, 64}}, {{256, 64, 256}}};

}  // namespace

Exercise exercise() {
  return {
      .learnt =
          "Tiles of T x T divide the bytes read from global memory by T. One barrier waits until a tile is "
          "there, another one until all have used it.",
      .lesson = "docs/05_linear_gelu.md, stage 4",
      .arrays = kArrays,
      .fill = fill_matrices,
      .output = {&kProduct},
      .roundings = product_roundings,
      .limits = kLimits,
      .dims = "MxKxN",
      .shapes = kShapes,
      .timed_shape = {{1024, 512, 1024}}};
}

// --- How the file that is judged is called ---

namespace {

/// A block of 32 x 32 threads for each 32 x 32 elements.
void run(const Data& d) {
  const int m = d.shape.dims[0], k = d.shape.dims[1], n = d.shape.dims[2];
  launch(linear_whole_tiles::multiply, dim3(static_cast<unsigned>(n / 32), static_cast<unsigned>(m / 32)),
         dim3(32, 32), d[kX], d[kW], d[kProduct], m, k, n);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
