/// \file
/// Exercise 03.2, pack: what it asks for, and how the file that is judged is called.
#include "../quantize.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

long long elements(const Shape& shape) { return shape.dims[0]; }

constexpr auto kX = input<float>("x", elements);

void fill(const Data& host) { fill_for_int8(host[kX], host.shape.dims[0]); }

void reference(const Data& host, double* expected, double* magnitude) {
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    expected[i] = step_of(host[kX][i], kScale, kZeroPoint);
    magnitude[i] = 1;
  }
}

constexpr auto kQ = output<signed char>("q", elements, reference, {&kX});
constexpr const Array* kArrays[] = {&kX, &kQ};

int roundings(const Shape&) { return 0; }

long long one(const Shape&) { return 1; }
/// One request per warp, for 128 elements; and one for those left over.
long long warps(const Shape& s) { return (elements(s) + 127) / 128 + 1; }

long long one_read(const Shape& s) { return sector_bytes(elements(s)); }
long long one_write(const Shape& s) { return sector_bytes(elements(s), 1); }

const Limit kLimits[] = {
    {Cost::kLaunches, one, "can one kernel do the vectors and what is left over?"},
    {Cost::kLoadRequests, warps,
     "does each load fetch four elements, which are copied to a float4 variable before its members are used, "
     "and does only one thread load each of them?"},
    {Cost::kStoreRequests, warps, "does each store write four bytes, and only one thread each of them?"},
    {.cost = Cost::kReadBytes,
     .allowed = one_read,
     .excess = "x is needed once: do several threads load the same elements?",
     .scattered = kScatteredLoads},
    {.cost = Cost::kWrittenBytes,
     .allowed = one_write,
     .excess = "q must be written once: do several threads store the same elements?",
     .scattered = kScatteredStores},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "A warp whose lanes store single bytes fills one sector per request. Wide stores keep the "
              "requests few when elements get small.",
          .lesson = "docs/03_quantize_int8.md, stage 3",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kQ},
          .roundings = roundings,
          .limits = kLimits};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) { quantize_pack::quantize(d[kX], kScale, kZeroPoint, d[kQ], d.shape.dims[0]); }

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
