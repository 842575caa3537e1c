/// \file
/// Exercise 06.1, wmma: what it asks for, and how the file that is judged is called.
#include "../tensor_products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

constexpr auto kProduct = output<float>("product", m_times_n, reference_bfloat16, {&kHalfX, &kHalfW});
constexpr const Array* kArrays[] = {&kProduct, &kHalfX, &kHalfW};

long long fragments(const Shape& s) { return 2 * fragment_bytes(s); }

const Limit kLimits[] = {
    {Cost::kReadBytes, fragments,
     "do x and w come in fragments, one of each for a step of k, and is nothing loaded twice?"},
    {Cost::kWrittenBytes, result_bytes,
     "is each fragment of the product stored once, when its sums are done?"},
};

/// As in tensor_products.hpp, and multiples of 16 that are none of 32.
constexpr Shape kShapes[] = {
    {{16, 16, 16}}, {{32, 96, 32}}, {{48, 80, 112}}, {{64, 32, 160}}, {{64, 64, 256}}};

}  // namespace

Exercise exercise() {
  return {
      .learnt =
          "A fragment belongs to the warp: every lane calls, and which lane holds which element is up to the "
          "hardware.",
      .lesson = "docs/06_tensor_cores.md, stage 1",
      .arrays = kArrays,
      .fill = fill_bfloat16,
      .output = {&kProduct},
      .roundings = tensor_roundings,
      .limits = kLimits,
      .dims = "MxKxN",
      .shapes = kShapes,
      .timed_shape = {{1024, 512, 1024}}};
}

// --- How the file that is judged is called ---

namespace {

/// A block of four warps for each 16 x 64 elements.
void run(const Data& d) {
  const int m = d.shape.dims[0], k = d.shape.dims[1], n = d.shape.dims[2];
  launch(linear_wmma::multiply,
         dim3(static_cast<unsigned>(ceil_div(n, 64)), static_cast<unsigned>(ceil_div(m, 16))), 128, d[kHalfX],
         d[kHalfW], d[kProduct], k, n);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
