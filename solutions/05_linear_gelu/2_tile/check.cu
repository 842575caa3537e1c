/// \file
/// Exercise 05.2, tile: what it asks for, and how the file that is judged is called.
#include "../products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

constexpr auto kProduct = output<float>("product", m_times_n, reference_product, {&kX, &kW});
constexpr const Array* kArrays[] = {&kProduct, &kX, &kW};

/// Two loads for a multiplication of a warp, and for the stores, of which a tile needs 1/16, up to a quarter.
long long wavefronts(const Shape& s) { return m_times_n(s) * s.dims[1] / 32 * 9 / 4; }

const Limit kLimits[] = {
    {Cost::kReadBytes, tiles_read, "does the block load each element of its tiles once, and nothing else?"},
    {Cost::kWrittenBytes, result_bytes, "is each element of the result stored once, when its sum is done?"},
    {Cost::kSharedWavefronts, wavefronts,
     "two loads per multiplication are enough, each of one wavefront: are there more accesses, or do lanes "
     "hit the same bank?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Tiles of T x T divide the bytes read from device memory by T. Elements beyond the edge are "
              "zeros, and two barriers per tile keep readers and writers apart.",
          .lesson = "docs/05_linear_gelu.md, stage 4",
          .arrays = kArrays,
          .fill = fill_matrices,
          .output = {&kProduct},
          .roundings = product_roundings,
          .limits = kLimits,
          .dims = "MxKxN",
          .shapes = kProductShapes,
          .timed_shape = {{1024, 512, 1024}}};
}

// --- How the file that is judged is called ---

namespace {

/// A block of 32 x 32 threads for each 32 x 32 elements.
void run(const Data& d) {
  const int m = d.shape.dims[0], k = d.shape.dims[1], n = d.shape.dims[2];
  launch(linear_tile::multiply,
         dim3(static_cast<unsigned>(ceil_div(n, 32)), static_cast<unsigned>(ceil_div(m, 32))), dim3(32, 32),
         d[kX], d[kW], d[kProduct], m, k, n);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
