/// \file
/// Exercise 01.2, pairs: what it asks for, and how the file that is judged is called.
#include "../multiply_add.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

long long two_per_element(const Shape& s) { return 2 * elements(s); }

constexpr auto kV = input<float>("v", elements);
constexpr auto kPairs = input<float>("pairs", two_per_element);

void fill(const Data& host) {
  const int n = host.shape.dims[0];
  fill_uniform(host[kPairs], 2 * n, -1.5f, 2.0f, 31);
  fill_uniform(host[kV], n, -2.0f, 3.0f, 32);
}

void reference(const Data& host, double* expected, double* magnitude) {
  const float *pairs = host[kPairs], *v = host[kV];
  for (int i = 0; i < host.shape.dims[0]; ++i)
    reference_element(pairs[2 * i], pairs[2 * i + 1], v[i], &expected[i], &magnitude[i]);
}

constexpr auto kOut = output<float>("out", elements, reference, {&kV, &kPairs});
constexpr const Array* kArrays[] = {&kV, &kPairs, &kOut};

const Limit kLimits[] = {
    {Cost::kLaunches, one, "one kernel is enough: pairs need not be taken apart into two arrays first"},
    {Cost::kReadBytes, three_array_bytes,
     "q, k and v are needed once each: how many sectors does a warp touch when it loads its 32 values of q, "
     "and what else is in them? Is a vector copied to a variable before its members are used?"},
    {Cost::kWrittenBytes, array_bytes, "do neighbouring threads store neighbouring elements of out?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Two loads touched the same sectors, and each of them used half of their bytes. One load of 8 "
              "bytes per lane uses them whole.",
          .lesson = "docs/01_multiply_add.md, stage 2",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kOut},
          .roundings = multiply_add_roundings,
          .limits = kLimits};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) { multiply_add_pairs::multiply_add(d[kPairs], d[kV], d[kOut], d.shape.dims[0]); }

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
