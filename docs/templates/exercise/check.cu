/// \file
/// Exercise EXERCISE_NUMBER, exercise_name: what it asks for, and how the file that is judged is called.
#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

long long elements(const Shape& shape) { return shape.dims[0]; }

constexpr auto kX = input<float>("x", elements);

/// Think: which inputs show a mistake? Never constant, never symmetric.
void fill(const Data& host) { fill_uniform(host[kX], elements(host.shape), -1.0f, 2.0f, 11); }

/// In double precision, from the inputs. Think: which terms is an element made of?
void reference(const Data& host, double* expected, double* magnitude) {
  const float* const x = host[kX];
  for (long long i = 0; i < elements(host.shape); ++i) {
    expected[i] = 2.0 * x[i];
    magnitude[i] = expected[i] < 0 ? -expected[i] : expected[i];
  }
}

constexpr auto kOut = output<float>("out", elements, reference, {&kX});
constexpr const Array* kArrays[] = {&kX, &kOut};

/// Think: how often is a result rounded, on the longest path?
int roundings(const Shape&) { return 0; }

long long each_once(const Shape& s) { return sector_bytes(elements(s)); }

/// Think: what may it cost, and what does more than that mean?
const Limit kLimits[] = {{.cost = Cost::kReadBytes,
                          .allowed = each_once,
                          .excess = "x needs to be read only once: is it loaded again?",
                          .scattered = kScatteredLoads},
                         {.cost = Cost::kWrittenBytes,
                          .allowed = each_once,
                          .excess = "out needs to be written only once: is it stored again?",
                          .scattered = kScatteredStores}};

}  // namespace

Exercise exercise() {
  return {.learnt = "Think: what has the reader learnt, in a sentence or two?",
          .lesson = "docs/chapter_file.md, stage 1",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kOut},
          .roundings = roundings,
          .limits = kLimits};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  const int n = d.shape.dims[0];
  launch(exercise_namespace::twice, (n - 1) / 256 + 1, 256, d[kX], d[kOut], n);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
