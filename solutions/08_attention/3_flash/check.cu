/// \file
/// Exercise 08.3, flash: what it asks for, and how the file that is judged is called.
#include <math.h>

#include "attention.hpp"
#include "ceil_div.hpp"
#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

constexpr int kElements = 32;

long long query_elements(const Shape& s) { return static_cast<long long>(s.dims[0]) * s.dims[1] * kElements; }
long long key_elements(const Shape& s) { return static_cast<long long>(s.dims[0]) * s.dims[2] * kElements; }

constexpr auto kQ = input<float>("q", query_elements);
constexpr auto kK = input<float>("k", key_elements);
constexpr auto kV = input<float>("v", key_elements);

/// Scores have a variance of about 2. Element 0 of every key is 2, and that of some queries is large, so
/// their scores are all shifted: exp(score) is infinite for some queries and 0 for others. Element 1 grows
/// from key to key: the scores of one query in five grow with it, those of another one fall by 200.
void fill(const Data& host) {
  const int queries = host.shape.dims[1], keys = host.shape.dims[2];
  float *q = host[kQ], *k = host[kK];
  fill_uniform(q, query_elements(host.shape), -2.5f, 2.5f, 95);
  fill_uniform(k, key_elements(host.shape), -1.5f, 2.0f, 96);
  fill_uniform(host[kV], key_elements(host.shape), -1.0f, 2.0f, 97);
  for (long long row = 0; row < key_elements(host.shape) / kElements; ++row) {
    k[row * kElements] = 2.0f;
    k[row * kElements + 1] = 4.0f * static_cast<float>(row % keys) / static_cast<float>(keys);
  }
  for (long long row = 0; row < query_elements(host.shape) / kElements; ++row) {
    const long long kind = row % queries % 5;
    if (kind == 1) q[row * kElements] = 1000.0f;
    if (kind == 2) q[row * kElements] = -1000.0f;
    if (kind == 3) q[row * kElements + 1] = 10.0f;
    if (kind == 4) q[row * kElements + 1] = -300.0f;
  }
}

void reference(const Data& host, double* expected, double* magnitude) {
  const int heads = host.shape.dims[0];
  attention_output({.q = host[kQ],
                    .k = host[kK],
                    .v = host[kV],
                    .type = Type::kFloat32,
                    .heads = heads,
                    .key_heads = heads,
                    .queries = host.shape.dims[1],
                    .keys = host.shape.dims[2],
                    .d = kElements,
                    .causal = false,
                    .exact = false},
                   0, 1, expected, magnitude);
}

constexpr auto kO = output<float>("o", query_elements, reference, {&kQ, &kK, &kV});
constexpr const Array* kArrays[] = {&kO, &kQ, &kK, &kV};

/// As in problem.cuh: rounding errors go up and down alike, so they grow with the root of their number.
int roundings(const Shape& s) {
  return 6 * static_cast<int>(ceil(sqrt(kElements)) + 2 * ceil(sqrt(static_cast<double>(s.dims[2])))) + 40;
}

long long tiles_read(const Shape& s) {
  return 4 * query_elements(s) + 8LL * ceil_div(s.dims[1], 32) * key_elements(s);
}
long long written_once(const Shape& s) { return 4 * query_elements(s); }

const Limit kLimits[] = {
    {Cost::kReadBytes, tiles_read,
     "does the block load each element of its tiles once, in one pass over the keys?"},
    {Cost::kWrittenBytes, written_once, "is each element of o stored once, after the last tile?"},
};

const Shape kShapes[] = {{{1, 1, 1}},   {{1, 1, 33}},  {{3, 2, 5}},    {{1, 31, 32}}, {{2, 33, 31}},
                         {{1, 32, 64}}, {{2, 65, 33}}, {{1, 40, 257}}, {{2, 96, 128}}};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "With the maximum, the sum and the row of o so far, a tile of scores is computed, used and "
              "forgotten: the matrix of scores never exists.",
          .lesson = "docs/08_attention.md, stage 7",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kO},
          .roundings = roundings,
          .limits = kLimits,
          .dims = "HxQxK",
          .shapes = kShapes,
          .timed_shape = {{16, 2048, 2048}}};
}

// --- How the file that is judged is called ---

namespace {

/// A block of 32 x 32 threads for each 32 queries of a head.
void run(const Data& d) {
  const int heads = d.shape.dims[0], queries = d.shape.dims[1], keys = d.shape.dims[2];
  constexpr float kScale = 0.176776695f;  // 1 / sqrt(32)
  launch(attention_flash::flash,
         dim3(static_cast<unsigned>(ceil_div(queries, 32)), static_cast<unsigned>(heads)), dim3(32, 32),
         d[kQ], d[kK], d[kV], d[kO], queries, keys, kScale);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
