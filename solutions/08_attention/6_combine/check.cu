/// \file
/// Exercise 08.6, combine: what it asks for, and how the file that is judged is called.
#include <math.h>

#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

/// A shape is rows, parts of each row, and elements of a row.
long long pairs(const Shape& s) { return static_cast<long long>(s.dims[0]) * s.dims[1]; }
long long partial_elements(const Shape& s) { return pairs(s) * s.dims[2]; }
long long elements(const Shape& s) { return static_cast<long long>(s.dims[0]) * s.dims[2]; }

/// Parts are empty at random; so is the first part of every fourth row, and every part of every seventh row
/// from the second on.
bool is_empty(long long row, long long part, float random) {
  return random < 0.2f || (part == 0 && row % 4 == 2) || row % 7 == 1;
}

/// The middle of a row's maxima: their exponentials are harmless, all overflow, or all vanish.
float middle_of(long long row) { return row % 3 == 0 ? 0.0f : row % 3 == 1 ? 1000.0f : -1000.0f; }

constexpr auto kOutputs = input<float>("outputs", partial_elements);
constexpr auto kMaxima = input<float>("maxima", pairs);
constexpr auto kSums = input<float>("sums", pairs);

void fill(const Data& host) {
  float *outputs = host[kOutputs], *maxima = host[kMaxima], *sums = host[kSums];
  const long long parts = host.shape.dims[1], d = host.shape.dims[2];
  fill_uniform(maxima, pairs(host.shape), 0.0f, 1.0f, 191);
  fill_uniform(sums, pairs(host.shape), 1.0f, 40.0f, 192);
  fill_uniform(outputs, partial_elements(host.shape), -10.0f, 20.0f, 193);
  for (long long pair = 0; pair < pairs(host.shape); ++pair) {
    const long long row = pair / parts;
    const bool empty = is_empty(row, pair % parts, maxima[pair]);
    const float spread = row % 5 == 4 ? 200.0f : 8.0f;
    maxima[pair] = empty ? -INFINITY : middle_of(row) + spread * (maxima[pair] - 0.5f);
    if (!empty) continue;
    sums[pair] = 0.0f;
    for (long long i = 0; i < d; ++i) outputs[pair * d + i] = 0.0f;
  }
}

/// A factor exp(maximum - largest) is off by the rounding of its argument, and by one of each maximum if that
/// is multiplied before the subtraction, as for exp2f: `uncertainty` is in roundings.
struct Factor {
  double value, uncertainty;
};

Factor factor_of(double maximum, double largest) {
  if (maximum == -INFINITY) return {0, 0};
  return {exp(maximum - largest), 1 + largest - maximum + fabs(maximum) + fabs(largest)};
}

/// Below 2^-126 float32 has no relative precision, so 2^-100 is added to magnitudes.
constexpr double kTiny = 0x1p-100;

void reference_row(const Data& host, long long row, double* expected, double* magnitude) {
  const long long parts = host.shape.dims[1], d = host.shape.dims[2];
  const float *maxima = host[kMaxima] + row * parts, *sums = host[kSums] + row * parts;
  double largest = -INFINITY, sum = 0, off = 0;
  for (long long p = 0; p < parts; ++p) largest = fmax(largest, maxima[p]);
  for (long long p = 0; p < parts; ++p) {
    const Factor factor = factor_of(maxima[p], largest);
    sum += factor.value * sums[p];
    off += factor.value * factor.uncertainty * sums[p];
  }
  for (long long i = 0; i < d; ++i) {
    double acc = 0, size = 0;
    for (long long p = 0; p < parts; ++p) {
      const Factor factor = factor_of(maxima[p], largest);
      const double term = factor.value * host[kOutputs][(row * parts + p) * d + i];
      acc += term;
      size += factor.uncertainty * fabs(term);
    }
    expected[i] = sum > 0 ? acc / sum : 0;
    magnitude[i] = kTiny + (sum > 0 ? size / sum + fabs(acc) / sum * (1 + off / sum) : 0);
  }
}

void reference(const Data& host, double* expected, double* magnitude) {
  const long long d = host.shape.dims[2];
  on_all_cores(host.shape.dims[0],
               [&](long long row) { reference_row(host, row, expected + row * d, magnitude + row * d); });
}

/// For each part an exponential, of at most 2 ulps or 4 roundings, a product and an addition; parts that are
/// merged one after the other are multiplied by another factor each time. The rest is for the division.
int roundings(const Shape& s) { return 8 * s.dims[1] + 8; }

constexpr auto kO = output<float>("o", elements, reference, {&kOutputs, &kMaxima, &kSums});
constexpr const Array* kArrays[] = {&kO, &kOutputs, &kMaxima, &kSums};

/// One part and one element, widths that are no multiples of a warp, and more parts than a block has threads.
constexpr Shape kShapes[] = {{{1, 1, 1}},   {{5, 1, 32}},  {{3, 2, 128}}, {{9, 3, 33}},   {{1, 5, 70}},
                             {{8, 33, 64}}, {{4, 150, 5}}, {{2, 7, 127}}, {{50, 4, 100}}, {{96, 8, 128}}};

/// A load of one maximum or sum by all lanes takes a sector. Each of the four warps has two loads of each.
long long bytes_to_read(const Shape& s) { return 4 * partial_elements(s) + pairs(s) * 2 * 2 * 4 * 32; }
long long bytes_to_write(const Shape& s) { return 4 * elements(s); }

const Limit kLimits[] = {
    {Cost::kReadBytes, bytes_to_read,
     "is each partial output loaded once? Does a warp load a maximum or a sum more than twice?"},
    {Cost::kWrittenBytes, bytes_to_write, "is each element of the result stored once, when its sum is done?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "A softmax over parts can be merged from a maximum, a sum and an output per part, whatever the "
              "order. Parts that are empty must not meet the subtraction.",
          .lesson = "docs/08_attention.md, stage 11",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kO},
          .roundings = roundings,
          .limits = kLimits,
          .dims = "RxPxD",
          .shapes = kShapes,
          .timed_shape = {{4096, 32, 128}}};
}

// --- How the file that is judged is called ---

namespace {

/// A block for each row.
void run(const Data& d) {
  launch(attention_combine::combine, d.shape.dims[0], 128, d[kOutputs], d[kMaxima], d[kSums], d[kO],
         d.shape.dims[1], d.shape.dims[2]);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
