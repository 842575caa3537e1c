/// \file
/// Exercise 07.4, backward: what it asks for, and how the file that is judged is called.
#include "../numbers.hpp"

namespace DEVICE {
namespace {

using namespace workbook;
using namespace gelu_dropout_numbers;

constexpr auto kDy = input<float>("dy", elements);

void fill(const Data& host) {
  fill_x(host, 174);
  fill_uniform(host[kDy], elements(host.shape), -1.5f, 1.0f, 175);
}

/// F(x) + x f(x) with the normal distribution F and its density f. Its terms are at most 1 and |x| f(x); the
/// argument of the exponential function, x^2 / 2, is rounded too.
void reference(const Data& host, double* expected, double* magnitude) {
  const float *x = host[kX], *dy = host[kDy];
  const double scale = scale_of<Backward>(host.shape);
  for_each_element<Backward>(host.shape, [&](unsigned i, bool kept) {
    const double v = x[i], bell = exp(-0.5 * v * v);
    const double slope = 0.5 * (1 + erf(v / sqrt(2.0))) + v * bell / sqrt(2 * acos(-1.0));
    expected[i] = kept ? scale * dy[i] * slope : 0;
    magnitude[i] = kept ? scale * fabs(dy[i]) * (1 + fabs(v) * (1 + v * v) * bell) : 0;
  });
}

constexpr auto kDx = output<float>("dx", elements, reference, {&kX, &kDy});
constexpr const Array* kArrays[] = {&kX, &kDy, &kDx};

/// Warps whose lanes have four elements each.
long long warps(const Shape& s) { return (elements(s) + 127) / 128; }
long long two_loads(const Shape& s) { return 2 * warps(s); }
long long x_and_dy(const Shape& s) { return 2 * array_bytes(s); }

const Limit kLimits[] = {
    {Cost::kLaunches, one, "can one kernel draw the mask and compute dx?"},
    {Cost::kLoadRequests, two_loads,
     "a warp can load 128 elements of x in one request, and of dy in another: are all loads float4?"},
    {Cost::kStoreRequests, warps, "dx can be stored as float4 too: is it?"},
    {.cost = Cost::kReadBytes,
     .allowed = x_and_dy,
     .excess = "each element of x and dy is needed once, and nothing else: is a mask stored and loaded?",
     .scattered = "do neighbouring lanes load neighbouring float4?"},
    {.cost = Cost::kWrittenBytes,
     .allowed = array_bytes,
     .excess = "only dx must be written: is a mask written as well?",
     .scattered = "do neighbouring lanes store neighbouring float4?"},
};

}  // namespace

Exercise exercise() {
  return {
      .learnt =
          "A mask that is drawn from seed, offset and index can be drawn again, so the backward pass needs "
          "no saved mask. Both passes must agree on which number of which call an element gets.",
      .lesson = "docs/07_gelu_dropout.md, stage 9",
      .arrays = kArrays,
      .fill = fill,
      .output = {&kDx},
      .roundings = roundings,
      .limits = kLimits,
      .shapes = kShorterLengths};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  gelu_dropout_backward::gelu_dropout_backward(
      d[kX], d[kDy], d[kDx], d.shape.dims[0],
      gelu_dropout_numbers::dropout_of<gelu_dropout_numbers::Backward>(d.shape));
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
