/// \file
/// Specification of exercise 03.1, fuse.
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
                         {"between", Type::kFloat32, Role::kScratch, elements, nullptr},
                         {"q", Type::kInt8, Role::kOutput, elements, reference}};

int roundings(const Shape&) { return 0; }

long long one(const Shape&) { return 1; }
long long one_read(const Shape& s) { return sector_bytes(elements(s)); }
long long one_write(const Shape& s) { return sector_bytes(elements(s), 1); }

const Limit kLimits[] = {
    {Cost::kLaunches, one, "can one kernel do the work of both?"},
    {.cost = Cost::kReadBytes,
     .allowed = one_read,
     .excess = "x is needed once: is something read again?",
     .scattered = kScatteredLoads},
    {.cost = Cost::kWrittenBytes,
     .allowed = one_write,
     .excess = "only q must be written: do floats go through memory?",
     .scattered = kScatteredStores},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "The last kernel of a chain decides what is written: a byte, where each one before wrote four.",
          .lesson = "docs/03_quantize_int8.md, stage 2",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .output = "q",
          .roundings = roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0]};
}

}  // namespace DEVICE
