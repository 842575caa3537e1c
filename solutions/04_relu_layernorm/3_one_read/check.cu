/// \file
/// Exercise 04.3, one_read: what it asks for, and how the file that is judged is called.
#include "../rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void reference(const Data& host, double* expected, double* magnitude) {
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    const long long first = static_cast<long long>(r) * columns;
    const RowMoments row = moments_of(host[kX] + first, columns, positive_part);
    const double inverse = 1 / sqrt(row.variance + double{kEpsilon});
    for (int c = 0; c < columns; ++c) {
      const double x = positive_part(host[kX][first + c]);
      expected[first + c] = (x - row.mean) * inverse;
      magnitude[first + c] = (fabs(x) + row.size) * inverse;
    }
  }
}

constexpr auto kY = output<float>("y", elements, reference, {&kX});
constexpr const Array* kArrays[] = {&kX, &kY};

long long once(const Shape& s) { return 4 * elements(s); }

const Limit kLimits[] = {
    {Cost::kReadBytes, once, "is something loaded that the thread has loaded before?"},
    {Cost::kWrittenBytes, once, "is each element of y stored once, by neighbouring lanes?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "A row in registers is read once, and then a second look at it is free: so compute the "
              "variance as it is defined.",
          .lesson = "docs/04_relu_layernorm.md, stage 10",
          .arrays = kArrays,
          .fill = fill_rows_some_nan,
          .output = {&kY},
          .roundings = row_roundings,
          .limits = kLimits,
          .dims = "RxC",
          .shapes = kRowShapes,
          .timed_shape = {{16384, 2048, 1}}};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  launch(layernorm_one_read::normalise, d.shape.dims[0], 256, d[kX], d[kY], d.shape.dims[1], kEpsilon);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
