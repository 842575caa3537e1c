/// \file
/// Exercise 05.5, intensity: what it asks for, and how the file that is judged is called.
#include "../products.hpp"

#ifdef SPECIFICATION  // after the solution; other files need not have its kernels
namespace DEVICE {
namespace {

using namespace workbook;
using namespace linear_intensity;

constexpr auto kProduct = scratch<float>("product", m_times_n);

constexpr const Array* kArrays[] = {&kProduct, &kX, &kW};

// n = 256 in the text. An element of the result takes the same bytes at each n that all tiles divide.
constexpr Shape kShapes[] = {{{256, 64, 32}}};
constexpr double kFlops = 2.0 * kShapes[0].dims[1];

template <int Rows, int Columns>
void run(const Data& d) {
  const int m = d.shape.dims[0], k = d.shape.dims[1], n = d.shape.dims[2];
  launch(multiply<Rows, Columns>, dim3(static_cast<unsigned>(n / Columns), static_cast<unsigned>(m / Rows)),
         dim3(16, 16), d[kX], d[kW], d[kProduct], k, n);
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
          .fill = fill_matrices,
          .predictions = kPredictions,
          .dims = "MxKxN",
          .shapes = kShapes};
}

}  // namespace DEVICE
#endif

// --- How the file that is judged is called ---

namespace DEVICE {
namespace {

// The numbers may be of any type, and their neighbours may have any name.
const double kNumbers[] = {static_cast<double>(linear_intensity::kBytes16x16),
                           static_cast<double>(linear_intensity::kBytes64x16),
                           static_cast<double>(linear_intensity::kBytes128x32),
                           static_cast<double>(linear_intensity::kBytes256x16),
                           static_cast<double>(linear_intensity::kIntensity16x16),
                           static_cast<double>(linear_intensity::kIntensity64x16),
                           static_cast<double>(linear_intensity::kIntensity128x32),
                           static_cast<double>(linear_intensity::kIntensity256x16)};

}  // namespace

workbook::Answer answer() { return {.predictions = kNumbers}; }

}  // namespace DEVICE
