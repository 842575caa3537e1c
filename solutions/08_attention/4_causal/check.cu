/// \file
/// Exercise 08.4, causal: what it asks for, and how the file that is judged is called.
#include <math.h>

#include "attention.hpp"
#include "ceil_div.hpp"
#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

constexpr int kWidth = 32;  ///< elements of a row of q, k, v and o, queries of a block, and keys of a tile

/// A shape is heads, queries, keys.
long long query_elements(const Shape& s) { return static_cast<long long>(s.dims[0]) * s.dims[1] * kWidth; }
long long key_elements(const Shape& s) { return static_cast<long long>(s.dims[0]) * s.dims[2] * kWidth; }

constexpr auto kQ = input<float>("q", query_elements);
constexpr auto kK = input<float>("k", key_elements);
constexpr auto kV = input<float>("v", key_elements);

/// Every third query is 40 times as long, so its scores reach some hundreds: their exponentials overflow
/// unless a maximum is subtracted.
void fill(const Data& host) {
  float* q = host[kQ];
  fill_uniform(q, query_elements(host.shape), -2.5f, 2.5f, 181);
  for (long long i = 0; i < query_elements(host.shape); ++i)
    if (i / kWidth % 3 == 2) q[i] *= 40.0f;
  fill_uniform(host[kK], key_elements(host.shape), -1.5f, 2.0f, 182);
  fill_uniform(host[kV], key_elements(host.shape), -1.0f, 2.0f, 183);
}

void reference(const Data& host, double* expected, double* magnitude) {
  const Shape& s = host.shape;
  attention_output({.q = host[kQ],
                    .k = host[kK],
                    .v = host[kV],
                    .type = Type::kFloat32,
                    .heads = s.dims[0],
                    .key_heads = s.dims[0],
                    .queries = s.dims[1],
                    .keys = s.dims[2],
                    .d = kWidth,
                    .causal = true,
                    .exact = false},
                   0, 1, expected, magnitude);
}

/// As float_roundings() in problem.cuh: errors of the additions go up and down alike, so they grow with the
/// root of their number. Scores are sums over a row, the sum of the weights and the outputs are sums over the
/// keys. The rest is for the exponentials, at most 2 ulps each, and for what is rescaled.
int roundings(const Shape& s) {
  return 6 * static_cast<int>(ceil(sqrt(1.0 * kWidth)) + 2 * ceil(sqrt(1.0 * s.dims[2]))) + 40;
}

constexpr auto kO = output<float>("o", query_elements, reference, {&kQ, &kK, &kV});
constexpr const Array* kArrays[] = {&kO, &kQ, &kK, &kV};

/// Fewer keys than queries and more, one of each, and lengths that are no multiples of the tiles. Costs are
/// counted at the last shape, whose diagonal begins and ends at edges of tiles.
constexpr Shape kShapes[] = {{{1, 1, 1}},   {{2, 1, 40}},   {{2, 40, 1}},  {{1, 3, 5}},
                             {{2, 32, 32}}, {{1, 33, 33}},  {{3, 31, 70}}, {{1, 70, 31}},
                             {{2, 65, 64}}, {{1, 100, 20}}, {{3, 64, 128}}};

/// The keys in the tiles that the queries of one head see, block by block.
long long tile_keys(const Shape& s) {
  const int queries = s.dims[1], keys = s.dims[2];
  long long sum = 0;
  for (int last = kWidth - 1; last < queries; last += kWidth) sum += last + 1 + keys - queries;
  return sum;
}

long long read_bytes(const Shape& s) {
  return 4 * query_elements(s) + 2 * 4 * kWidth * s.dims[0] * tile_keys(s);
}
long long written_bytes(const Shape& s) { return 4 * query_elements(s); }

const Limit kLimits[] = {
    {Cost::kReadBytes, read_bytes,
     "of the tiles of keys, a block needs those up to the last key that its last query sees: does it load "
     "others, or one of them twice?"},
    {Cost::kWrittenBytes, written_bytes, "is each element of the result stored once, when its sum is done?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "A causal mask saves work only if whole tiles are skipped. Only tiles on the diagonal need the "
              "mask, and a row without any key needs a result of its own: -infinity - -infinity is NaN.",
          .lesson = "docs/08_attention.md, stage 9",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kO},
          .roundings = roundings,
          .limits = kLimits,
          .dims = "HxQxK",
          .shapes = kShapes,
          .timed_shape = {{64, 1024, 1024}}};
}

// --- How the file that is judged is called ---

namespace {

/// A block of 32 x 32 threads for each 32 queries of a head.
void run(const Data& d) {
  const int heads = d.shape.dims[0], queries = d.shape.dims[1], keys = d.shape.dims[2];
  launch(attention_causal::attend,
         dim3(static_cast<unsigned>(ceil_div(queries, 32)), static_cast<unsigned>(heads)), dim3(32, 32),
         d[kQ], d[kK], d[kV], d[kO], queries, keys, static_cast<float>(1 / sqrt(32.0)));
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
