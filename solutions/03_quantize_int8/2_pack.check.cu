/// \file
/// Specification of exercise 03.2, pack.
#include "quantize.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

long long elements(const Shape& shape) { return shape.dims[0]; }

void fill(const Data& host) { fill_for_int8(host.floats("x"), host.shape.dims[0]); }

void reference(const Data& host, double* expected, double* magnitude) {
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    expected[i] = step_of(host.floats("x")[i], kScale, kZeroPoint);
    magnitude[i] = 1;
  }
}

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"q", Type::kInt8, Role::kOutput, elements, reference}};

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
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .output = "q",
          .roundings = roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0]};
}

}  // namespace DEVICE
