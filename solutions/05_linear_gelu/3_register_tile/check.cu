/// \file
/// Exercise 05.3, register_tile: what it asks for, and how the file that is judged is called.
#include "../products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

constexpr auto kProduct = output<float>("product", m_times_n, reference_product, {&kX, &kW});
constexpr const Array* kArrays[] = {&kProduct, &kX, &kW};

/// What tiles of 64 x 64 need, twice: four steps of k at a time use half of each sector.
long long bytes_read(const Shape& s) { return 4 * m_times_n(s) * s.dims[1] * 2 / 64 * 2; }
/// For sixteen multiplications of a warp: eight loads, and up to two stores; a tile needs half of one.
long long requests(const Shape& s) { return m_times_n(s) * s.dims[1] / 32 / 16 * 10; }
/// The same where lanes conflict in pairs at four of the loads, or at a transposed store more of them.
long long wavefronts(const Shape& s) { return m_times_n(s) * s.dims[1] / 32 / 16 * 14; }

const Limit kLimits[] = {
    {Cost::kReadBytes, bytes_read, "does the block load each element of its tiles once?"},
    {Cost::kSharedRequests, requests,
     "in one step, does each thread load its four elements of x and its four of w from shared memory once?"},
    {Cost::kSharedWavefronts, wavefronts,
     "are there more requests than needed, or do lanes of one request hit the same bank?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Shared memory is slow compared with registers. With R x C elements per thread, R + C loads "
              "serve R * C multiplications.",
          .lesson = "docs/05_linear_gelu.md, stages 5 and 6",
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

/// A block of 16 x 16 threads for each 64 x 64 elements.
void run(const Data& d) {
  const int m = d.shape.dims[0], k = d.shape.dims[1], n = d.shape.dims[2];
  launch(linear_register_tile::multiply,
         dim3(static_cast<unsigned>(ceil_div(n, 64)), static_cast<unsigned>(ceil_div(m, 64))), dim3(16, 16),
         d[kX], d[kW], d[kProduct], m, k, n);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
