/// \file
/// Exercise 04.5, welford: what it asks for, and how the file that is judged is called.
#include "../rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

/// Pairs of parts that merged() is tried with: count, mean and squares of a, then of b.
constexpr int kPairs = 8;
constexpr float kParts[kPairs][6] = {{5, 1.25f, 3.5f, 3, -2.5f, 1.75f}, {4, 2.5f, 6.25f, 0, 0, 0},
                                     {0, 0, 0, 7, -1.5f, 2.25f},        {0, 0, 0, 0, 0, 0},
                                     {1, 3.5f, 0, 1, 0.75f, 0},         {0, 0, 0, 1, 4.25f, 0},
                                     {1, -3.25f, 0, 0, 0, 0},           {2, 5, 0.5f, 30, 5, 8}};

long long pairs(const Shape&) { return kPairs; }

constexpr auto kACount = input<float>("a_count", pairs);
constexpr auto kAMean = input<float>("a_mean", pairs);
constexpr auto kASquares = input<float>("a_squares", pairs);
constexpr auto kBCount = input<float>("b_count", pairs);
constexpr auto kBMean = input<float>("b_mean", pairs);
constexpr auto kBSquares = input<float>("b_squares", pairs);

void fill(const Data& host) {
  fill_rows_some_large(host);
  float* const parts[] = {host[kACount], host[kAMean], host[kASquares],
                          host[kBCount], host[kBMean], host[kBSquares]};
  for (int i = 0; i < kPairs; ++i)
    for (int j = 0; j < 6; ++j) parts[j][i] = kParts[i][j];
}

/// A merged pair: count, mean and squares, and the sizes that bound the rounding errors of each.
struct Pair {
  double values[3], sizes[3];
};
Pair merged(const float* part) {
  const double m = part[0], n = part[3], both = m + n, distance = double{part[4]} - part[1];
  if (both == 0) return {};
  const double size = fabs(part[1]) + fabs(part[4]), weight = m * n / both;
  const double squares = double{part[2]} + part[5] + weight * distance * distance;
  return {{both, (m * part[1] + n * part[4]) / both, squares},
          {both, size, squares + 2 * weight * fabs(distance) * size}};
}
template <int Which>
void reference_merged(const Data&, double* expected, double* magnitude) {
  for (int i = 0; i < kPairs; ++i) {
    const Pair pair = merged(kParts[i]);
    expected[i] = pair.values[Which];
    magnitude[i] = pair.sizes[Which];
  }
}

RowMoments row_moments(const Data& host, int r) {
  const int columns = host.shape.dims[1];
  return moments_of(host[kX] + static_cast<long long>(r) * columns, columns, identity);
}

void reference_means(const Data& host, double* expected, double* magnitude) {
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    expected[r] = row_moments(host, r).mean;
    magnitude[r] = row_moments(host, r).size;
  }
}

/// A mean that is off by e makes each distance wrong by e.
void reference_variances(const Data& host, double* expected, double* magnitude) {
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    const RowMoments row = row_moments(host, r);
    expected[r] = row.variance;
    magnitude[r] = row.variance + 2 * sqrt(row.variance) * row.size;
  }
}

constexpr auto kMergedCount = output<float>("merged_count", pairs, reference_merged<0>, {&kACount, &kBCount});
constexpr auto kMergedMean =
    output<float>("merged_mean", pairs, reference_merged<1>, {&kACount, &kAMean, &kBCount, &kBMean});
constexpr auto kMergedSquares = output<float>("merged_squares", pairs, reference_merged<2>,
                                              {&kACount, &kAMean, &kASquares, &kBCount, &kBMean, &kBSquares});
constexpr auto kMeans = output<float>("means", rows, reference_means, {&kX});
constexpr auto kVariances = output<float>("variances", rows, reference_variances, {&kX});
constexpr const Array* kArrays[] = {&kX,          &kACount,        &kAMean,    &kASquares,
                                    &kBCount,     &kBMean,         &kBSquares, &kMergedCount,
                                    &kMergedMean, &kMergedSquares, &kMeans,    &kVariances};

/// Four for each number and for each round of the tree.
int roundings(const Shape& s) { return 4 * sum_roundings(s); }

long long one_read(const Shape& s) { return 4 * elements(s); }

const Limit kLimits[] = {
    {Cost::kReadBytes, one_read, "is each element read once?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Moments can be kept up to date and merged, without subtracting one large number from another.",
          .lesson = "docs/04_relu_layernorm.md, stage 9",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kMergedCount, &kMergedMean, &kMergedSquares, &kMeans, &kVariances},
          .roundings = roundings,
          .limits = kLimits,
          .dims = "RxC",
          .shapes = kRowShapes,
          .timed_shape = {{16384, 2048, 1}}};
}

// --- How the file that is judged is called ---

namespace {

/// Moments of pairs of parts: an array of each.
struct Parts {
  float *count, *mean, *squares;

  __device__ layernorm_welford::Moments at(int i) const {
    layernorm_welford::Moments part;
    part.count = count[i];
    part.mean = mean[i];
    part.squares = squares[i];
    return part;
  }
};

/// merged() of pairs of parts, one pair per thread.
__global__ void merge_pairs(Parts a, Parts b, Parts both, int pairs) {
  const int i = threadIdx.x;
  if (i >= pairs) return;
  const layernorm_welford::Moments moments = layernorm_welford::merged(a.at(i), b.at(i));
  both.count[i] = moments.count;
  both.mean[i] = moments.mean;
  both.squares[i] = moments.squares;
}

void run(const Data& d) {
  launch(merge_pairs, 1, 32, Parts{d[kACount], d[kAMean], d[kASquares]},
         Parts{d[kBCount], d[kBMean], d[kBSquares]},
         Parts{d[kMergedCount], d[kMergedMean], d[kMergedSquares]}, kPairs);
  launch(layernorm_welford::row_moments, d.shape.dims[0], 256, d[kX], d[kMeans], d[kVariances],
         d.shape.dims[1]);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
