/// \file
/// Exercise 03.1, fuse: what it asks for, and how the file that is judged is called.
#include "../quantize.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

long long elements(const Shape& shape) { return shape.dims[0]; }

constexpr auto kX = input<float>("x", elements);
constexpr auto kBetween = scratch<float>("between", elements);

void fill(const Data& host) { fill_for_int8(host[kX], host.shape.dims[0]); }

void reference(const Data& host, double* expected, double* magnitude) {
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    expected[i] = step_of(host[kX][i], kScale, kZeroPoint);
    magnitude[i] = 1;
  }
}

constexpr auto kQ = output<signed char>("q", elements, reference, {&kX});
constexpr const Array* kArrays[] = {&kX, &kBetween, &kQ};

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
          .fill = fill,
          .output = {&kQ},
          .roundings = roundings,
          .limits = kLimits};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  quantize_fuse::quantize(d[kX], kScale, kZeroPoint, d[kBetween], d[kQ], d.shape.dims[0]);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
