/// \file
/// Exercise 06.2, epilogue_bf16: what it asks for, and how the file that is judged is called.
#include "../tensor_products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

constexpr auto kProduct = scratch<float>("product", m_times_n);

void fill(const Data& host) {
  fill_bfloat16(host);
  fill_uniform(host[kBias], host.shape.dims[2], -2.0f, 1.0f, 73);
}

void reference(const Data& host, double* expected, double* magnitude) {
  reference_bfloat16(host, expected, magnitude);
  finish_reference(host, expected, magnitude);
}

constexpr auto kY = output<__nv_bfloat16>("y", m_times_n, reference, {&kHalfX, &kHalfW, &kBias});
constexpr const Array* kArrays[] = {&kY, &kProduct, &kHalfX, &kHalfW, &kBias};

/// A fragment of x and one of w per step for every 16 x 16 elements, and a bias for each element.
long long fragments_and_bias(const Shape& s) { return 2 * fragment_bytes(s) + 4 * m_times_n(s); }
long long rounded_bytes(const Shape& s) { return 2 * m_times_n(s); }

const Limit kLimits[] = {
    {Cost::kLaunches, one_launch, "what does the second kernel still have to do?"},
    {Cost::kReadBytes, fragments_and_bias, "is anything read but x, w and a bias for each element?"},
    {Cost::kWrittenBytes, rounded_bytes,
     "is y written once: is the product stored as well, or does each store of a warp fill only part of its "
     "sectors?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Sums stay in float32 until the epilogue is done, and are rounded once: rounded before GELU "
              "as well, a result can be off by a hundred units in the last place.",
          .lesson = "docs/06_tensor_cores.md, stage 1",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kY},
          .roundings = tensor_roundings,
          .limits = kLimits,
          .dims = "MxKxN",
          .shapes = kTensorShapes,
          .timed_shape = {{1024, 512, 1024}}};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  linear_epilogue_bf16::linear(d[kHalfX], d[kHalfW], d[kBias], d[kProduct], d[kY], d.shape.dims[0],
                               d.shape.dims[1], d.shape.dims[2]);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
