/// \file
/// Specification of exercise 04.5, welford.
#include "rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

/// Pairs of parts that merged() is tried with: count, mean and squares of a, then of b.
constexpr const char* kNames[] = {"a_count", "a_mean", "a_squares", "b_count", "b_mean", "b_squares"};
constexpr int kPairs = 8;
constexpr float kParts[kPairs][6] = {{5, 1.25f, 3.5f, 3, -2.5f, 1.75f}, {4, 2.5f, 6.25f, 0, 0, 0},
                                     {0, 0, 0, 7, -1.5f, 2.25f},        {0, 0, 0, 0, 0, 0},
                                     {1, 3.5f, 0, 1, 0.75f, 0},         {0, 0, 0, 1, 4.25f, 0},
                                     {1, -3.25f, 0, 0, 0, 0},           {2, 5, 0.5f, 30, 5, 8}};

void fill(const Data& host) {
  fill_rows_some_large(host);
  for (int i = 0; i < kPairs; ++i)
    for (int j = 0; j < 6; ++j) host.floats(kNames[j])[i] = kParts[i][j];
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
long long pairs(const Shape&) { return kPairs; }

RowMoments row_moments(const Data& host, int r) {
  const int columns = host.shape.dims[1];
  return moments_of(host.floats("x") + static_cast<long long>(r) * columns, columns, identity);
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

const Array kArrays[] = {
    {"x", Type::kFloat32, Role::kInput, elements, nullptr},
    {kNames[0], Type::kFloat32, Role::kInput, pairs, nullptr},
    {kNames[1], Type::kFloat32, Role::kInput, pairs, nullptr},
    {kNames[2], Type::kFloat32, Role::kInput, pairs, nullptr},
    {kNames[3], Type::kFloat32, Role::kInput, pairs, nullptr},
    {kNames[4], Type::kFloat32, Role::kInput, pairs, nullptr},
    {kNames[5], Type::kFloat32, Role::kInput, pairs, nullptr},
    {"merged_count", Type::kFloat32, Role::kOutput, pairs, reference_merged<0>, "a_count b_count"},
    {"merged_mean", Type::kFloat32, Role::kOutput, pairs, reference_merged<1>,
     "a_count a_mean b_count b_mean"},
    {"merged_squares", Type::kFloat32, Role::kOutput, pairs, reference_merged<2>},
    {"means", Type::kFloat32, Role::kOutput, rows, reference_means, "x"},
    {"variances", Type::kFloat32, Role::kOutput, rows, reference_variances, "x"}};

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
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .output = "merged_count merged_mean merged_squares means variances",
          .roundings = roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0],
          .dims = "RxC",
          .shapes = kRowShapes,
          .shape_count = kRowShapeCount,
          .timed_shape = {{16384, 2048, 1}}};
}

}  // namespace DEVICE
