/// \file
/// Exercise 05.4, epilogue: what it asks for, and how the file that is judged is called.
#include "../products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void fill(const Data& host) {
  fill_matrices(host);
  fill_uniform(host[kBias], host.shape.dims[2], -2.0f, 1.0f, 63);
}

void reference(const Data& host, double* expected, double* magnitude) {
  reference_product(host, expected, magnitude);
  finish_reference(host, expected, magnitude);
}

constexpr auto kY = output<float>("y", m_times_n, reference, {&kX, &kW, &kBias});
constexpr const Array* kArrays[] = {&kY, &kX, &kW, &kBias};

/// Tiles of 32 x 32, and 128 bytes of the bias per warp of results.
long long tiles_and_bias(const Shape& s) { return 4 * m_times_n(s) * s.dims[1] * 2 / 32 + 4 * m_times_n(s); }

/// The product's k roundings or fewer (products.hpp), and ten of the bias and GELU: erff is off by two units
/// at most, and normcdff by five.
int roundings(const Shape& s) {
  return (s.dims[1] < product_roundings(s) ? s.dims[1] : product_roundings(s)) + 10;
}

const Limit kLimits[] = {
    {Cost::kLaunches, one_launch, "what does the second kernel still have to do?"},
    {Cost::kReadBytes, tiles_and_bias,
     "do tiles of at least 32 x 32 serve x and w, and is nothing else read but the bias?"},
    {Cost::kWrittenBytes, result_bytes,
     "is y written once: is the product stored as well, or does each store of a warp fill only part of its "
     "sectors?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "An epilogue costs nothing but its arithmetic: the sum is in a register. What it saves is a "
              "pass over the result.",
          .lesson = "docs/05_linear_gelu.md, stage 10",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kY},
          .roundings = roundings,
          .limits = kLimits,
          .dims = "MxKxN",
          .shapes = kProductShapes,
          .timed_shape = {{1024, 512, 1024}}};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  linear_epilogue::linear(d[kX], d[kW], d[kBias], d[kY], d.shape.dims[0], d.shape.dims[1], d.shape.dims[2]);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
