/// \file
/// Specification of exercise 05.5, intensity.
#include "5_intensity.cuh"
#include "products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;
using namespace linear_intensity;

const Array kArrays[] = {{"product", Type::kFloat32, Role::kScratch, m_times_n, nullptr},
                         {"x", Type::kFloat32, Role::kInput, m_times_k, nullptr},
                         {"w", Type::kFloat32, Role::kInput, n_times_k, nullptr}};

// n = 256 in the text. An element of the result takes the same bytes at each n that all tiles divide.
constexpr Shape kShapes[] = {{{256, 64, 32}}};
constexpr double kFlops = 2.0 * kShapes[0].dims[1];

template <int Rows, int Columns>
void run(const Data& d) {
  const int m = d.shape.dims[0], k = d.shape.dims[1], n = d.shape.dims[2];
  launch(multiply<Rows, Columns>, dim3(static_cast<unsigned>(n / Columns), static_cast<unsigned>(m / Rows)),
         dim3(16, 16), d.floats("x"), d.floats("w"), d.floats("product"), k, n);
}

const Prediction kPredictions[] = {{.name = "16x16", .run = run<16, 16>},
                                   {.name = "64x16", .run = run<64, 16>},
                                   {.name = "128x32", .run = run<128, 32>},
                                   {.name = "256x16", .run = run<256, 16>},
                                   {.name = "16x16, intensity", .run = run<16, 16>, .flops = kFlops},
                                   {.name = "64x16, intensity", .run = run<64, 16>, .flops = kFlops},
                                   {.name = "128x32, intensity", .run = run<128, 32>, .flops = kFlops},
                                   {.name = "256x16, intensity", .run = run<256, 16>, .flops = kFlops}};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "A tiling's arithmetic intensity follows from its two sides, and a long tile is worth little "
              "more than its short side.",
          .lesson = "docs/05_linear_gelu.md, stages 5 and 6",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill_matrices,
          .predictions = kPredictions,
          .prediction_count = sizeof kPredictions / sizeof kPredictions[0],
          .dims = "MxKxN",
          .shapes = kShapes,
          .shape_count = 1};
}

}  // namespace DEVICE
