/// \file
/// Specification of exercise 02.3, half2.
#include "add_mul_exp.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void fill(const Data& host) {
  float value = 0;
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    fill_uniform(&value, 1, -2.0f, 3.0f, 3000u + static_cast<unsigned>(i));
    half_array(host, "x")[i] = __float2half(value);
    fill_uniform(&value, 1, -1.0f, 4.0f, 4000000u + static_cast<unsigned>(i));
    half_array(host, "y")[i] = __float2half(value);
  }
}

/// Exact in double: a product of halves has 22 bits.
void reference(const Data& host, double* expected, double* magnitude) {
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    const double product = static_cast<double>(kFactor) * __half2float(half_array(host, "x")[i]);
    const double addend = __half2float(half_array(host, "y")[i]);
    expected[i] = product + addend;
    magnitude[i] = fabs(product) + fabs(addend);
  }
}

const Array kArrays[] = {{"x", Type::kFloat16, Role::kInput, elements, nullptr},
                         {"y", Type::kFloat16, Role::kInput, elements, nullptr},
                         {"out", Type::kFloat16, Role::kOutput, elements, reference}};

/// One in float, for code that computes in float and rounds to half at the end. The comparison allows for the
/// rounding to half.
int roundings(const Shape&) { return 1; }

/// One request per warp, for 64 halves; and one for the odd element.
long long warps(const Shape& s) { return (elements(s) + 63) / 64 + 1; }
long long loads(const Shape& s) { return 2 * warps(s); }

/// The sectors of an array that begins at a sector, and one more for each request: where the array begins
/// inside a sector, so does each request for 128 bytes.
long long written(const Shape& s) { return sector_bytes(elements(s), 2) + 32 * warps(s); }
long long read(const Shape& s) { return 2 * written(s); }

const Limit kLimits[] = {
    {Cost::kLaunches, one, "can one kernel do the pairs and the odd element?"},
    {Cost::kLoadRequests, loads,
     "does each load fetch two halves at least, which are copied to a variable before its members are used, "
     "and does only one thread load each of them?"},
    {Cost::kStoreRequests, warps,
     "does each store write two halves at least, and only one thread each of them?"},
    {.cost = Cost::kReadBytes,
     .allowed = read,
     .excess = "x and y are needed once: do several threads load the same elements?",
     .scattered = kScatteredLoads},
    {.cost = Cost::kWrittenBytes,
     .allowed = written,
     .excess = "out must be written once: do several threads store the same elements?",
     .scattered = kScatteredStores},
};

/// 513: one element after 256 pairs, which fill a block. The last is a prime.
const Shape kShapes[] = {{{1, 1, 1}},    {{2, 1, 1}},    {{3, 1, 1}},    {{5, 1, 1}},
                         {{31, 1, 1}},   {{64, 1, 1}},   {{65, 1, 1}},   {{255, 1, 1}},
                         {{256, 1, 1}},  {{257, 1, 1}},  {{512, 1, 1}},  {{513, 1, 1}},
                         {{1023, 1, 1}}, {{1024, 1, 1}}, {{4098, 1, 1}}, {{134789, 1, 1}}};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Half the bytes per element pay off only if a request does not shrink with them: let each "
              "thread load two halves, or better eight.",
          .lesson = "docs/02_add_mul_exp.md, stage 7",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .output = "out",
          .roundings = roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0],
          .shapes = kShapes,
          .shape_count = sizeof kShapes / sizeof kShapes[0],
          .any_alignment = true};
}

}  // namespace DEVICE
