/// \file
/// Exercise 02.3, half2: what it asks for, and how the file that is judged is called.
#include "../add_mul_exp.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

constexpr auto kHalfX = input<__half>("x", elements);
constexpr auto kHalfY = input<__half>("y", elements);

void fill(const Data& host) {
  float value = 0;
  __half *const x = host[kHalfX], *const y = host[kHalfY];
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    fill_uniform(&value, 1, -2.0f, 3.0f, 3000u + static_cast<unsigned>(i));
    x[i] = __float2half(value);
    fill_uniform(&value, 1, -1.0f, 4.0f, 4000000u + static_cast<unsigned>(i));
    y[i] = __float2half(value);
  }
}

/// Exact in double: a product of halves has 22 bits.
void reference(const Data& host, double* expected, double* magnitude) {
  const __half *const x = host[kHalfX], *const y = host[kHalfY];
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    const double product = static_cast<double>(kFactor) * __half2float(x[i]);
    const double addend = __half2float(y[i]);
    expected[i] = product + addend;
    magnitude[i] = fabs(product) + fabs(addend);
  }
}

constexpr auto kOut = output<__half>("out", elements, reference, {&kHalfX, &kHalfY});
constexpr const Array* kArrays[] = {&kHalfX, &kHalfY, &kOut};

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
          .fill = fill,
          .output = {&kOut},
          .roundings = roundings,
          .limits = kLimits,
          .shapes = kShapes,
          .any_alignment = true};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  add_mul_exp_half2::scaled_sum(__float2half(kFactor), d[kHalfX], d[kHalfY], d[kOut], d.shape.dims[0]);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
