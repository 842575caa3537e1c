/// \file
/// Exercise 05.1, coalesce: what it asks for, and how the file that is judged is called.
#include "../products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

constexpr auto kProduct = output<float>("product", m_times_n, reference_product, {&kX, &kW});
constexpr const Array* kArrays[] = {&kProduct, &kX, &kW};

long long eight_bytes(const Shape& s) { return 8 * m_times_n(s) * s.dims[1]; }
long long requests(const Shape& s) { return 2 * m_times_n(s) * ceil_div(s.dims[1], 32); }

const Limit kLimits[] = {
    {Cost::kReadBytes, eight_bytes, "do neighbouring lanes load neighbouring words?"},
    {Cost::kLoadRequests, requests, "do all 32 lanes load in each request, every element once?"},
};

/// Short and long rows, with and without a tail. Costs are counted at the last shape, where every row starts
/// at a sector.
constexpr Shape kShapes[] = {{{1, 1, 1}},   {{2, 3, 5}},   {{1, 40, 70}},  {{31, 33, 32}},
                             {{2, 127, 9}}, {{3, 132, 9}}, {{70, 9, 130}}, {{64, 256, 64}}};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Which index runs along the lanes decides what a request costs: here k, the one along which "
              "both matrices are contiguous.",
          .lesson = "docs/05_linear_gelu.md, stage 2",
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

void run(const Data& d) {
  const int m = d.shape.dims[0], k = d.shape.dims[1], n = d.shape.dims[2];
  launch(linear_coalesce::multiply, dim3(static_cast<unsigned>(m), static_cast<unsigned>(ceil_div(n, 8))),
         dim3(32, 8), d[kX], d[kW], d[kProduct], k, n);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
